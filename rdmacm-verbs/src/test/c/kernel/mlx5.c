// SPDX-License-Identifier: Apache-2.0
/* The kernel's driver of mlx5_0: what libmlx5 asks for beyond what all devices have. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mlx5dv.h>
#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>

#include "mlx5.h"

#define FIRST_EVENT_QUEUE 5
#define METHOD(object, method) ((uint32_t)(object) << 16 | (uint32_t)(method))
#define DUMP_FILL_KEY 0x600
#define UNARMED 0xffffffff

static struct { bool used; uint8_t *memory; } pages[REGISTER_PAGES];
static struct queue_pair *by_number[1 << 16];
static struct memory_key *by_key[1 << 16];

struct queue_pair *mlx5_find(uint32_t number) {
    struct queue_pair *found = by_number[number & 0xffff];
    return found && found->number == number ? found : NULL;
}

struct memory_key *mlx5_key(uint32_t key) {
    struct memory_key *found = by_key[key >> 8 & 0xffff];
    return found && found->key == key ? found : NULL;
}

const uint8_t *mlx5_registers(uint32_t page) {
    return page < REGISTER_PAGES ? pages[page].memory : NULL;
}

static void set_bits(uint8_t *bytes, unsigned bit, unsigned width, uint64_t value) {
    for (unsigned i = 0; i < width; i++, bit++) {
        uint8_t mask = 0x80 >> (bit & 7);
        if (value >> (width - 1 - i) & 1) bytes[bit / 8] |= mask;
        else bytes[bit / 8] &= ~mask;
    }
}

static void device_attributes(struct ib_uverbs_query_device_resp *answer) {
    *answer = (struct ib_uverbs_query_device_resp){
        .fw_ver = 16ull << 32 | 35 << 16 | 2000, .node_guid = htobe64(0x0002c90300fa4e00),
        .sys_image_guid = htobe64(0x0002c90300fa4e00), .max_mr_size = ~0ull, .page_size_cap = ~0xfffull,
        .vendor_id = 0x2c9, .vendor_part_id = 4119, .max_qp = 131072, .max_qp_wr = 32768, .max_sge = 30,
        .max_sge_rd = 30, .max_cq = 1 << 24, .max_cqe = 4194303, .max_mr = 1 << 24, .max_pd = 1 << 24,
        .max_qp_rd_atom = 16, .max_res_rd_atom = 1 << 21, .max_qp_init_rd_atom = 16, .atomic_cap = 1,
        .max_srq = 1 << 23, .max_srq_wr = 32767, .max_srq_sge = 31, .max_pkeys = 128, .local_ca_ack_delay = 16,
        .phys_port_cnt = 1, .max_ah = 1 << 30};
}

static void driver_device_attributes(struct request *request) {
    DRIVER_OUT(request, struct mlx5_ib_query_device_resp,
            {.response_length = sizeof value_, .dci_streams_caps = {5, 5}, .cqe_comp_caps = {64, 7},
                .flags = MLX5_IB_QUERY_DEV_RESP_FLAGS_CQE_128B_COMP | MLX5_IB_QUERY_DEV_RESP_FLAGS_CQE_128B_PAD});
}

static int get_context(struct request *request) {
    DRIVER_OUT(request, struct mlx5_ib_alloc_ucontext_resp, {
        .qp_tab_size = 1 << 18, .bf_reg_size = 512, .cache_line_size = 64, .max_sq_desc_sz = 1024,
        .max_rq_desc_sz = 512, .max_send_wqebb = 32768, .max_recv_wr = 32768, .max_srq_recv_wr = 32767,
        .num_ports = 1, .comp_mask = MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_DUMP_FILL_MKEY
            | MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_MKEY_UPDATE_TAG,
        .response_length = sizeof(struct mlx5_ib_alloc_ucontext_resp), .cqe_version = 1,
        .cmds_supp_uhw = MLX5_USER_CMDS_SUPP_UHW_QUERY_DEVICE | MLX5_USER_CMDS_SUPP_UHW_CREATE_AH,
        .eth_min_inline = 1, .log_uar_size = 12, .num_uars_per_page = 1, .dump_fill_mkey = DUMP_FILL_KEY});
    return 0;
}

static void *own(uint32_t handle, enum kind kind, size_t size) {
    return object(handle, kind)->state = calloc(1, size);
}

static int register_memory(struct request *request, uint32_t handle) {
    const struct ib_uverbs_reg_mr *wanted = COMMAND(request, struct ib_uverbs_reg_mr);
    struct memory_key *key = own(handle, MR, sizeof *key);
    key->key = next_number() << 8;
    key->start = wanted->hca_va;
    key->memory = (uint8_t *)(uintptr_t)wanted->start;
    key->length = wanted->length;
    key->access = wanted->access_flags;
    key->domain = wanted->pd_handle;
    by_key[key->key >> 8 & 0xffff] = key;
    ANSWER(request, struct ib_uverbs_reg_mr_resp, {handle, key->key, key->key});
    return 0;
}

/* How the last completion queue was made. */
static struct mlx5_ib_create_cq last_completions;

static int create_completions(struct request *request, uint32_t handle) {
    const struct mlx5_ib_create_cq *wanted = DRIVER_IN(request, struct mlx5_ib_create_cq);
    if (!wanted) return EINVAL;
    uint32_t entries = in32(request, UVERBS_ATTR_CREATE_CQ_CQE);
    struct completions *queue = own(handle, CQ, sizeof *queue);
    queue->entries = (uint8_t *)(uintptr_t)wanted->buf_addr;
    queue->doorbell = (uint32_t *)(uintptr_t)wanted->db_addr;
    queue->size = wanted->cqe_size;
    last_completions = *wanted;
    queue->handle = handle;
    // The first arming may be 0, what the driver has put there; a card would see the write to its register.
    queue->served = *(queue->doorbell + 1) = UNARMED;
    queue->count = entries + 1;
    queue->user_handle = in64(request, UVERBS_ATTR_CREATE_CQ_USER_HANDLE);
    queue->channel = in32(request, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL);
    OUT(request, UVERBS_ATTR_CREATE_CQ_RESP_CQE, uint32_t, entries);
    DRIVER_OUT(request, struct mlx5_ib_create_cq_resp, {.cqn = next_number()});
    return 0;
}

/* Entries of a shared receive queue have a link of 16 bytes before their parts. */
static uint32_t shift_of(uint32_t parts) {
    uint32_t shift = 5;
    while (1u << shift < 16 * (parts + 1)) shift++;
    return shift;
}

static int create_shared_receives(struct request *request, uint32_t handle) {
    const struct mlx5_ib_create_srq *wanted = DRIVER_IN(request, struct mlx5_ib_create_srq);
    if (!wanted) return EINVAL;
    uint32_t entries = in32(request, UVERBS_ATTR_CREATE_SRQ_MAX_WR);
    uint32_t parts = in32(request, UVERBS_ATTR_CREATE_SRQ_MAX_SGE);
    struct receives *queue = own(handle, SRQ, sizeof *queue);
    queue->entries = (uint8_t *)(uintptr_t)wanted->buf_addr;
    queue->doorbell = (uint32_t *)(uintptr_t)wanted->db_addr;
    queue->count = entries + 1;
    queue->shift = shift_of(parts);
    queue->shared = true;
    queue->parts = parts;
    queue->limit = in32(request, UVERBS_ATTR_CREATE_SRQ_LIMIT);
    queue->handle = handle;
    OUT(request, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, uint32_t, entries);
    OUT(request, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, uint32_t, parts);
    uint32_t number = next_number();
    OUT(request, UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, uint32_t, number);
    DRIVER_OUT(request, struct mlx5_ib_create_srq_resp, {.srqn = number});
    return 0;
}

/* A window has no memory until a request binds it. */
static int allocate_window(struct request *request, uint32_t handle) {
    struct memory_key *key = own(handle, MW, sizeof *key);
    key->key = next_number() << 8;
    key->domain = COMMAND(request, struct ib_uverbs_alloc_mw)->pd_handle;
    by_key[key->key >> 8 & 0xffff] = key;
    ANSWER(request, struct ib_uverbs_alloc_mw_resp, {handle, key->key});
    return 0;
}

static int query_shared_receives(struct request *request) {
    const struct receives *queue = state_of(COMMAND(request, struct ib_uverbs_query_srq)->srq_handle, SRQ);
    if (!queue) return EINVAL;
    ANSWER(request, struct ib_uverbs_query_srq_resp, {.max_wr = queue->count - 1, .max_sge = queue->parts,
        .srq_limit = queue->limit});
    return 0;
}

static int modify_shared_receives(struct request *request) {
    const struct ib_uverbs_modify_srq *wanted = COMMAND(request, struct ib_uverbs_modify_srq);
    struct receives *queue = state_of(wanted->srq_handle, SRQ);
    if (!queue || wanted->attr_mask & ~IBV_SRQ_LIMIT || wanted->srq_limit >= queue->count) return EINVAL;
    queue->limit = wanted->srq_limit;
    return 0;
}

static void make_known(struct queue_pair *pair, uint32_t number) {
    pair->number = number;
    by_number[number & 0xffff] = pair;
}

static int create_queue_pair(struct request *request, uint32_t handle) {
    const struct mlx5_ib_create_qp *wanted = DRIVER_IN(request, struct mlx5_ib_create_qp);
    const struct ib_uverbs_qp_cap *sizes = in(request, UVERBS_ATTR_CREATE_QP_CAP, sizeof *sizes);
    if (!wanted || !sizes) return EINVAL;
    struct queue_pair *pair = own(handle, QP, sizeof *pair);
    pair->handle = handle;
    pair->user_index = wanted->uidx;
    pair->type = in32(request, UVERBS_ATTR_CREATE_QP_TYPE);
    pair->dct = wanted->flags & MLX5_QP_FLAG_TYPE_DCT;
    pair->dci = wanted->flags & MLX5_QP_FLAG_TYPE_DCI;
    pair->domain = in32(request, UVERBS_ATTR_CREATE_QP_PD_HANDLE);
    pair->send_completions = in32(request, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE);
    pair->receive_completions = in32(request, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE);
    pair->shared_receives = in32(request, UVERBS_ATTR_CREATE_QP_SRQ_HANDLE);
    if (pair->dct) {
        pair->access_key = wanted->access_key;
    } else {
        uint8_t *entries = (uint8_t *)(uintptr_t)wanted->buf_addr;
        pair->doorbell = (uint32_t *)(uintptr_t)wanted->db_addr;
        pair->receives = (struct receives){.entries = entries, .doorbell = pair->doorbell,
            .count = wanted->rq_wqe_count, .shift = wanted->rq_wqe_shift};
        pair->sends = entries + ((size_t)wanted->rq_wqe_count << wanted->rq_wqe_shift);
        pair->send_count = wanted->sq_wqe_count;
        make_known(pair, next_number());
    }
    OUT(request, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, uint32_t, pair->number);
    // A copy: the answer goes where the request came from.
    OUT(request, UVERBS_ATTR_CREATE_QP_RESP_CAP, struct ib_uverbs_qp_cap, *sizes);
    DRIVER_OUT(request, struct mlx5_ib_create_qp_resp, {.bfreg_index = 0});
    return 0;
}

static int create(struct request *request, enum kind kind, uint32_t handle) {
    switch (kind) {
    case PD:
        DRIVER_OUT(request, struct mlx5_ib_alloc_pd_resp, {handle});
        return 0;
    case MR:
        return register_memory(request, handle);
    case MW:
        return allocate_window(request, handle);
    case CQ:
        return create_completions(request, handle);
    case SRQ:
        return create_shared_receives(request, handle);
    case QP:
        return create_queue_pair(request, handle);
    case AH:
        DRIVER_OUT(request, struct mlx5_ib_create_ah_resp,
                {.response_length = sizeof value_, .dmac = {2, 0, 0, 0, 0, 9}});
        return 0;
    default:
        return 0;
    }
}

static void forget_page(uint32_t handle) {
    uint32_t *page = state_of(handle, PAGE);
    if (!page) return;
    pages[*page].used = false;
    pages[*page].memory = NULL;
}

static void forget_window(uint32_t handle) {
    struct memory_key *key = state_of(handle, MW);
    if (key) by_key[key->key >> 8 & 0xffff] = NULL;
}

static void destroyed(enum kind kind, uint32_t handle) {
    if (kind == PAGE) forget_page(handle);
    if (kind == MW) forget_window(handle);
    if (kind == QP) {
        struct queue_pair *pair = state_of(handle, QP);
        if (pair && by_number[pair->number & 0xffff] == pair) by_number[pair->number & 0xffff] = NULL;
    } else if (kind == MR || kind == OTHER) {
        // other objects have another state, but none of them is listed
        for (unsigned i = 0; i < sizeof by_key / sizeof *by_key; i++) {
            if (by_key[i] == state_of(handle, kind)) by_key[i] = NULL;
        }
    }
}

static int modify_queue_pair(struct request *request, uint32_t handle, const struct ib_uverbs_modify_qp *wanted) {
    struct queue_pair *pair = state_of(handle, QP);
    if (!pair) return EINVAL;
    if (wanted->attr_mask & IBV_QP_STATE) {
        pair->state = wanted->qp_state;
        if (pair->state == RESET) {
            pair->executed = pair->receives.taken = 0;
            pair->flushed = false;
        }
    }
    if (wanted->attr_mask & IBV_QP_DEST_QPN) pair->peer = wanted->dest_qp_num;
    if (wanted->attr_mask & IBV_QP_QKEY) pair->qkey = wanted->qkey;
    if (wanted->attr_mask & IBV_QP_ACCESS_FLAGS) pair->access = wanted->qp_access_flags;
    if (wanted->attr_mask & IBV_QP_RNR_RETRY) pair->rnr_retry = wanted->rnr_retry;
    if (pair->dct && pair->state == RTR && !pair->number) make_known(pair, next_number());
    DRIVER_OUT(request, struct mlx5_ib_modify_qp_resp, {.response_length = sizeof value_, .dctn = pair->number});
    return 0;
}

static int query_queue_pair(struct request *request) {
    const struct ib_uverbs_query_qp *wanted = COMMAND(request, struct ib_uverbs_query_qp);
    struct queue_pair *pair = state_of(wanted->qp_handle, QP);
    if (!pair) return EINVAL;
    ANSWER(request, struct ib_uverbs_query_qp_resp, {.qp_state = pair->state, .cur_qp_state = pair->state,
        .dest_qp_num = pair->peer, .qkey = pair->qkey, .qp_access_flags = pair->access, .path_mtu = 5,
        .port_num = 1, .rnr_retry = pair->rnr_retry});
    return 0;
}

/* A memory key that a UMR operation fills in later; the answer has its index, 24 bits, at bit 0x48. */
static int create_memory_key(struct request *request) {
    struct ib_uverbs_attr *answer = (struct ib_uverbs_attr *)attribute(request, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT);
    uint32_t handle = add_object(request, OTHER);
    struct memory_key *key = own(handle, OTHER, sizeof *key);
    uint32_t index = next_number();
    key->key = index << 8;
    by_key[index & 0xffff] = key;
    uint8_t *bytes = (uint8_t *)(uintptr_t)answer->data;
    memset(bytes, 0, answer->len);
    set_bits(bytes, 0x48, 24, index);
    set_data(request, MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE, handle);
    return 0;
}

#define COMMAND_CREATE_MKEY 0x200

static int create_devx(struct request *request) {
    const uint8_t *command = in(request, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN, 4);
    if (!command) return EINVAL;
    return (command[0] << 8 | command[1]) == COMMAND_CREATE_MKEY ? create_memory_key(request)
            : mlx5_create_object(request, command);
}

/* Pages are numbered from 1: the lowest that is free. */
static int allocate_page(struct request *request) {
    uint32_t page = 1;
    while (page < REGISTER_PAGES && pages[page].used) page++;
    if (page == REGISTER_PAGES) return ENOMEM;
    pages[page].used = true;
    uint32_t handle = add_object(request, PAGE);
    *(uint32_t *)own(handle, PAGE, sizeof page) = page;
    set_data(request, MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, handle);
    OUT(request, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, uint64_t, (uint64_t)page * REGISTER_PAGE);
    OUT(request, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, uint32_t, REGISTER_PAGE);
    OUT(request, MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, uint32_t, page);
    return 0;
}

static void mapped(void *memory, size_t length, long offset) {
    long page = offset / REGISTER_PAGE;
    if (length == REGISTER_PAGE && page > 0 && page < REGISTER_PAGES) pages[page].memory = memory;
}

static int other(struct request *request) {
    if (request->command) {
        switch (request->command) {
        case IB_USER_VERBS_CMD_QUERY_QP:
            return query_queue_pair(request);
        case IB_USER_VERBS_CMD_QUERY_SRQ:
            return query_shared_receives(request);
        case IB_USER_VERBS_CMD_MODIFY_SRQ:
            return modify_shared_receives(request);
        default:
            return EOPNOTSUPP;
        }
    }
    switch (METHOD(request->header->object_id, request->header->method_id)) {
    case METHOD(MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC):
        return allocate_page(request);
    case METHOD(MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_DESTROY):
        return destroy_object(in32(request, MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE), PAGE);
    case METHOD(MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER):
        return mlx5_general_command(request);
    case METHOD(MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_CREATE):
        return create_devx(request);
    case METHOD(MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_QUERY):
        return mlx5_query_object(request);
    case METHOD(MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_MODIFY):
        return mlx5_modify_object(request);
    case METHOD(MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_QUERY_EQN):
        OUT(request, MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN, uint32_t,
                FIRST_EVENT_QUEUE + in32(request, MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC));
        return 0;
    case METHOD(MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_DESTROY):
        return destroy_object(in32(request, MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE), OTHER);
    }
    return mlx5_memory_request(request);
}

const struct device mlx5_device = {
    .name = "mlx5_0",
    .path = "/dev/infiniband/uverbs0",
    .minor = 192,
    .device_attributes = device_attributes,
    .driver_device_attributes = driver_device_attributes,
    .get_context = get_context,
    .create = create,
    .modify_qp = modify_queue_pair,
    .other = other,
    .destroyed = destroyed,
    .work = mlx5_work,
    .map = mapped,
};

/* For the tests: copies the entries of a send queue, and returns the doorbell record's count of them. */
uint32_t kernel_sends(uint32_t number, uint8_t *bytes, uint32_t length) {
    lock();
    struct queue_pair *pair = mlx5_find(number);
    uint32_t count = 0;
    if (pair && pair->sends) {
        uint32_t all = pair->send_count * 64;
        memcpy(bytes, pair->sends, length < all ? length : all);
        count = be32toh(pair->doorbell[1]);
    }
    unlock();
    return count;
}

/* For the tests: how the last completion queue was made: the size of entries, from bit 16 whether they are padded,
 * from bit 20 the format of compressed ones. */
int kernel_completions(void) {
    lock();
    struct mlx5_ib_create_cq last = last_completions;
    unlock();
    return (int)last.cqe_size | (last.flags & MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD ? 1 << 16 : 0)
        | (last.cqe_comp_en ? last.cqe_comp_res_format << 20 : 0);
}
