// SPDX-License-Identifier: Apache-2.0
// Answers for the kernel's driver of EFA, so that libibverbs and libefa work without a card: the requests that create,
// change and destroy objects. efanic.c is the card.
#include "efa.h"
#include "efanic.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <infiniband/verbs.h>
#include <rdma/efa-abi.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#define RECEIVE_PART_BYTES 16
#define PAIR_HANDLES 1000
#define MOST_FILES 65536
#define IDLE_NANOS 20000
// of kernels newer than the headers may be
#define CAPABILITY_RDMA_WRITE (1 << 5)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t next_key = 0x100;
static uint16_t next_number = 1;
static int refused_object = -1;
static int refused_error;
static unsigned domains;
// The file that events of a channel are written to, by the file that they are read from.
static int event_files[MOST_FILES];

static struct ib_uverbs_attr *find(struct ib_uverbs_ioctl_hdr *request, int id) {
    for (int i = 0; i < request->num_attrs; i++) {
        if (request->attrs[i].attr_id == id) {
            return request->attrs + i;
        }
    }
    return NULL;
}

static const void *input(struct ib_uverbs_ioctl_hdr *request, int id) {
    struct ib_uverbs_attr *attr = find(request, id);
    return !attr ? NULL : attr->len <= sizeof attr->data ? (void *) &attr->data : (void *) (uintptr_t) attr->data;
}

static uint32_t input32(struct ib_uverbs_ioctl_hdr *request, int id) {
    const uint32_t *value = input(request, id);
    return value ? *value : 0;
}

static void output(struct ib_uverbs_ioctl_hdr *request, int id, const void *value, size_t bytes) {
    struct ib_uverbs_attr *attr = find(request, id);
    if (attr) {
        memset((void *) (uintptr_t) attr->data, 0, attr->len);
        memcpy((void *) (uintptr_t) attr->data, value, bytes < attr->len ? bytes : attr->len);
        attr->flags |= UVERBS_ATTR_F_VALID_OUTPUT;
    }
}

#define OUTPUT(request, id, type, ...) \
    do { \
        type value_ = __VA_ARGS__; \
        output(request, id, &value_, sizeof value_); \
    } while (0)

static void give_handle(struct ib_uverbs_ioctl_hdr *request, int id, uint32_t handle) {
    struct ib_uverbs_attr *attr = find(request, id);
    attr->data = handle;
    attr->flags |= UVERBS_ATTR_F_VALID_OUTPUT;
}

static uint64_t key_of(struct efanic_mapping *mapping) {
    return (uint64_t) (mapping - efanic.mappings + 1) << 24;
}

int efa_file_at(uint64_t key) {
    uint64_t index = (key >> 24) - 1;
    return index < EFANIC_MAPPINGS && efanic.mappings[index].memory ? efanic.mappings[index].file : -1;
}

// Makes a file that a program reads events from.
static int make_channel(void) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) || ends[0] >= MOST_FILES) {
        return -1;
    }
    event_files[ends[0]] = ends[1];
    return ends[0];
}

void efa_closed(int file) {
    if (file >= 0 && file < MOST_FILES && event_files[file]) {
        int other = event_files[file];
        event_files[file] = 0;
        close(other);
    }
}

static void notify(int channel, struct efanic_cq *cq) {
    struct ib_uverbs_comp_event_desc event = { cq->user_handle };
    if (channel < MOST_FILES && event_files[channel]
            && write(event_files[channel], &event, sizeof event) == sizeof event) {
        cq->events++;
    }
}

// Takes the events of a queue that is being destroyed out of its channel.
static void withdraw_events(struct efanic_cq *cq) {
    if (cq->channel < 0 || !event_files[cq->channel]) {
        return;
    }
    struct ib_uverbs_comp_event_desc kept[64];
    int count = 0;
    int flags = fcntl(cq->channel, F_GETFL);
    fcntl(cq->channel, F_SETFL, flags | O_NONBLOCK);
    while (count < 64 && read(cq->channel, kept + count, sizeof kept[0]) == sizeof kept[0]) {
        if (kept[count].cq_handle == cq->user_handle) {
            cq->events--;
        } else {
            count++;
        }
    }
    fcntl(cq->channel, F_SETFL, flags);
    for (int i = 0; i < count; i++) {
        if (write(event_files[cq->channel], kept + i, sizeof kept[0]) < 0) {
            return;
        }
    }
}

static struct ib_uverbs_query_device_resp device(void) {
    return (struct ib_uverbs_query_device_resp) { .fw_ver = 1, .max_mr_size = ~0ull, .page_size_cap = ~0xfffull,
        .vendor_id = 0x1d0f, .vendor_part_id = 0xefa1, .max_qp = EFANIC_QUEUE_PAIRS,
        .max_qp_wr = EFANIC_MAX_SENDS, .max_sge = EFANIC_MAX_SEND_PARTS, .max_sge_rd = 1,
        .max_cq = EFANIC_COMPLETION_QUEUES, .max_cqe = 1 << 15, .max_mr = EFANIC_REGIONS, .max_pd = 256,
        .max_pkeys = 1, .phys_port_cnt = 1, .max_ah = EFANIC_ADDRESSES };
}

static int query_device(struct ib_uverbs_ioctl_hdr *request) {
    struct ib_uverbs_ex_query_device_resp response = { .base = device(), .response_length = sizeof response };
    output(request, UVERBS_ATTR_CORE_OUT, &response, sizeof response);
    OUTPUT(request, UVERBS_ATTR_UHW_OUT, struct efa_ibv_ex_query_device_resp, { .max_sq_wr = EFANIC_MAX_SENDS,
        .max_rq_wr = EFANIC_MAX_RECEIVES, .max_sq_sge = EFANIC_MAX_SEND_PARTS,
        .max_rq_sge = EFANIC_MAX_RECEIVE_PARTS, .max_rdma_size = EFANIC_MAX_RDMA,
        .device_caps = EFA_QUERY_DEVICE_CAPS_RDMA_READ | EFA_QUERY_DEVICE_CAPS_RNR_RETRY
            | EFA_QUERY_DEVICE_CAPS_CQ_NOTIFICATIONS | EFA_QUERY_DEVICE_CAPS_CQ_WITH_SGID
            | CAPABILITY_RDMA_WRITE });
    return 0;
}

static int register_region(struct ib_uverbs_ioctl_hdr *request) {
    const struct ib_uverbs_reg_mr *wanted = input(request, UVERBS_ATTR_CORE_IN);
    for (uint32_t i = 0; i < EFANIC_REGIONS; i++) {
        struct efanic_region *region = efanic.regions + i;
        if (!region->bytes) {
            *region = (struct efanic_region) { next_key++, wanted->pd_handle, wanted->hca_va, wanted->length,
                wanted->access_flags };
            OUTPUT(request, UVERBS_ATTR_CORE_OUT, struct ib_uverbs_reg_mr_resp, { i, region->key, region->key });
            return 0;
        }
    }
    return ENOMEM;
}

static int create_address(struct ib_uverbs_ioctl_hdr *request) {
    const struct ib_uverbs_create_ah *wanted = input(request, UVERBS_ATTR_CORE_IN);
    if (!wanted->attr.is_global) {
        return EINVAL;
    }
    for (uint32_t i = 0; i < EFANIC_ADDRESSES; i++) {
        struct efanic_address *address = efanic.addresses + i;
        if (!address->used) {
            *address = (struct efanic_address) { .used = true, .domain = wanted->pd_handle };
            memcpy(address->gid, wanted->attr.grh.dgid, sizeof address->gid);
            OUTPUT(request, UVERBS_ATTR_CORE_OUT, struct ib_uverbs_create_ah_resp, { i });
            OUTPUT(request, UVERBS_ATTR_UHW_OUT, struct efa_ibv_create_ah_resp, { .efa_address_handle = i });
            return 0;
        }
    }
    return ENOMEM;
}

static struct efanic_qp *pair_at(uint32_t handle) {
    return handle < PAIR_HANDLES || handle >= PAIR_HANDLES + EFANIC_QUEUE_PAIRS ? NULL
            : efanic.qps + (handle - PAIR_HANDLES);
}

static bool leads_to(int from, int to) {
    return to == IBV_QPS_RESET || to == IBV_QPS_ERR || (from == IBV_QPS_RESET && to == IBV_QPS_INIT)
            || (from == IBV_QPS_INIT && to == IBV_QPS_RTR) || (from == IBV_QPS_RTR && to == IBV_QPS_RTS)
            || (from == to && from != IBV_QPS_RESET);
}

static int modify_pair(const struct ib_uverbs_modify_qp *wanted) {
    struct efanic_qp *qp = pair_at(wanted->qp_handle);
    if (!qp || !qp->used) {
        return EINVAL;
    }
    int to = wanted->attr_mask & IBV_QP_STATE ? wanted->qp_state : qp->state;
    if (!leads_to(qp->state, to) || ((wanted->attr_mask & IBV_QP_RNR_RETRY) && qp->type == EFANIC_UD)) {
        return EINVAL;
    }
    if (wanted->attr_mask & IBV_QP_QKEY) {
        qp->queue_key = wanted->qkey;
    }
    if (wanted->attr_mask & IBV_QP_RNR_RETRY) {
        qp->rnr_retry = wanted->rnr_retry;
    }
    if (to == IBV_QPS_ERR && qp->state != IBV_QPS_RESET) {
        efanic_flush(qp);
    }
    if (to == IBV_QPS_RESET) {
        efanic_reset(qp);
    }
    qp->state = to;
    return 0;
}

static int query_pair(struct ib_uverbs_ioctl_hdr *request) {
    const struct ib_uverbs_query_qp *wanted = input(request, UVERBS_ATTR_CORE_IN);
    struct efanic_qp *qp = pair_at(wanted->qp_handle);
    if (!qp || !qp->used) {
        return EINVAL;
    }
    OUTPUT(request, UVERBS_ATTR_CORE_OUT, struct ib_uverbs_query_qp_resp, { .max_send_wr = qp->send_entries,
        .max_recv_wr = qp->receive_entries, .max_send_sge = EFANIC_MAX_SEND_PARTS, .max_recv_sge = 1,
        .qkey = qp->queue_key, .qp_state = (uint8_t) qp->state, .cur_qp_state = (uint8_t) qp->state, .port_num = 1,
        .rnr_retry = qp->rnr_retry });
    return 0;
}

static int command(struct ib_uverbs_ioctl_hdr *request) {
    switch (input32(request, UVERBS_ATTR_WRITE_CMD)) {
    case IB_USER_VERBS_CMD_QUERY_DEVICE:
        OUTPUT(request, UVERBS_ATTR_CORE_OUT, struct ib_uverbs_query_device_resp, device());
        return 0;
    case IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_QUERY_DEVICE:
        return query_device(request);
    case IB_USER_VERBS_CMD_ALLOC_PD:
        domains++;
        OUTPUT(request, UVERBS_ATTR_CORE_OUT, struct ib_uverbs_alloc_pd_resp, { next_key++ });
        OUTPUT(request, UVERBS_ATTR_UHW_OUT, struct efa_ibv_alloc_pd_resp, { .pdn = 1 });
        return 0;
    case IB_USER_VERBS_CMD_REG_MR:
        return register_region(request);
    case IB_USER_VERBS_CMD_CREATE_AH:
        return create_address(request);
    case IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL: {
        int file = make_channel();
        if (file < 0) {
            return EMFILE;
        }
        OUTPUT(request, UVERBS_ATTR_CORE_OUT, struct ib_uverbs_create_comp_channel_resp, { (uint32_t) file });
        return 0;
    }
    case IB_USER_VERBS_CMD_MODIFY_QP:
        return modify_pair(input(request, UVERBS_ATTR_CORE_IN));
    case IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_QP:
        OUTPUT(request, UVERBS_ATTR_CORE_OUT, struct ib_uverbs_ex_modify_qp_resp,
                { .response_length = sizeof(struct ib_uverbs_ex_modify_qp_resp) });
        return modify_pair(input(request, UVERBS_ATTR_CORE_IN));
    case IB_USER_VERBS_CMD_QUERY_QP:
        return query_pair(request);
    default:
        return EOPNOTSUPP;
    }
}

static int get_context(struct ib_uverbs_ioctl_hdr *request) {
    OUTPUT(request, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, uint32_t, 1);
    OUTPUT(request, UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, uint64_t, 1);
    OUTPUT(request, UVERBS_ATTR_UHW_OUT, struct efa_ibv_alloc_ucontext_resp, {
        .cmds_supp_udata_mask = EFA_USER_CMDS_SUPP_UDATA_QUERY_DEVICE | EFA_USER_CMDS_SUPP_UDATA_CREATE_AH,
        .sub_cqs_per_cq = EFANIC_SUB_QUEUES, .inline_buf_size = EFANIC_MAX_INLINE,
        .max_llq_size = EFANIC_MAX_SENDS * 64, .max_tx_batch = 8, .min_sq_wr = 16 });
    return 0;
}

static int query_port(struct ib_uverbs_ioctl_hdr *request) {
    OUTPUT(request, UVERBS_ATTR_QUERY_PORT_RESP, struct ib_uverbs_query_port_resp_ex, { .legacy_resp = {
        .max_msg_sz = EFANIC_MAX_MESSAGE, .gid_tbl_len = 1, .pkey_tbl_len = 1, .state = 4, .max_mtu = 5,
        .active_mtu = 5, .max_vl_num = 1, .active_width = 2, .active_speed = 32, .phys_state = 5 } });
    return 0;
}

static int create_cq(struct ib_uverbs_ioctl_hdr *request) {
    const struct efa_ibv_create_cq *wanted = input(request, UVERBS_ATTR_UHW_IN);
    uint32_t entries = input32(request, UVERBS_ATTR_CREATE_CQ_CQE);
    if (wanted->num_sub_cqs != EFANIC_SUB_QUEUES || entries == 0 || entries > 1 << 15) {
        return EINVAL;
    }
    for (uint32_t i = 0; i < EFANIC_COMPLETION_QUEUES; i++) {
        struct efanic_cq *cq = efanic.cqs + i;
        if (cq->used) {
            continue;
        }
        struct ib_uverbs_attr *channel = find(request, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL);
        struct ib_uverbs_attr *user = find(request, UVERBS_ATTR_CREATE_CQ_USER_HANDLE);
        *cq = (struct efanic_cq) { .user_handle = user->data, .entry_bytes = wanted->cq_entry_size,
            .entries = entries, .channel = channel ? (int) channel->data : -1,
            .buffer = efanic_map((size_t) entries * wanted->cq_entry_size * EFANIC_SUB_QUEUES),
            .doorbell = efanic_map(EFANIC_PAGE) };
        if (!cq->buffer || !cq->doorbell) {
            efanic_unmap(cq->buffer);
            efanic_unmap(cq->doorbell);
            return ENOMEM;
        }
        cq->used = true;
        give_handle(request, UVERBS_ATTR_CREATE_CQ_HANDLE, i);
        OUTPUT(request, UVERBS_ATTR_CREATE_CQ_RESP_CQE, uint32_t, entries);
        OUTPUT(request, UVERBS_ATTR_UHW_OUT, struct efa_ibv_create_cq_resp, {
            .comp_mask = EFA_CREATE_CQ_RESP_DB_OFF, .q_mmap_key = key_of(cq->buffer),
            .q_mmap_size = cq->buffer->bytes, .cq_idx = (uint16_t) i, .db_mmap_key = key_of(cq->doorbell) });
        return 0;
    }
    return ENOMEM;
}

static int destroy_cq(struct ib_uverbs_ioctl_hdr *request) {
    struct efanic_cq *cq = efanic.cqs + find(request, UVERBS_ATTR_DESTROY_CQ_HANDLE)->data;
    for (struct efanic_qp *qp = efanic.qps; qp < efanic.qps + EFANIC_QUEUE_PAIRS; qp++) {
        if (qp->used && (qp->send_cq == cq || qp->receive_cq == cq)) {
            return EBUSY;
        }
    }
    withdraw_events(cq);
    OUTPUT(request, UVERBS_ATTR_DESTROY_CQ_RESP, struct ib_uverbs_destroy_cq_resp, { .comp_events_reported = cq->events });
    efanic_unmap(cq->buffer);
    efanic_unmap(cq->doorbell);
    memset(cq, 0, sizeof *cq);
    return 0;
}

static void forget_pair(struct efanic_qp *qp) {
    efanic_unmap(qp->sends);
    efanic_unmap(qp->send_doorbell);
    efanic_unmap(qp->receives);
    efanic_unmap(qp->receive_doorbell);
    memset(qp, 0, sizeof *qp);
}

static int create_pair(struct ib_uverbs_ioctl_hdr *request) {
    const struct efa_ibv_create_qp *wanted = input(request, UVERBS_ATTR_UHW_IN);
    struct ib_uverbs_qp_cap cap = *(const struct ib_uverbs_qp_cap *) input(request, UVERBS_ATTR_CREATE_QP_CAP);
    uint32_t type = input32(request, UVERBS_ATTR_CREATE_QP_TYPE);
    if (cap.max_inline_data > EFANIC_MAX_INLINE || !cap.max_send_wr || cap.max_send_wr > EFANIC_MAX_SENDS
            || wanted->driver_qp_type != EFA_QP_DRIVER_TYPE_SRD) {
        return EINVAL;
    }
    for (uint32_t i = 0; i < EFANIC_QUEUE_PAIRS; i++) {
        struct efanic_qp *qp = efanic.qps + i;
        if (qp->used) {
            continue;
        }
        *qp = (struct efanic_qp) { .number = next_number++,
            .domain = (uint32_t) find(request, UVERBS_ATTR_CREATE_QP_PD_HANDLE)->data,
            .type = type == IBV_QPT_UD ? EFANIC_UD : EFANIC_SRD, .state = IBV_QPS_RESET,
            .send_cq = efanic.cqs + find(request, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE)->data,
            .receive_cq = efanic.cqs + find(request, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE)->data,
            .sends = efanic_map(wanted->sq_ring_size), .send_doorbell = efanic_map(EFANIC_PAGE),
            .receives = efanic_map(wanted->rq_ring_size), .receive_doorbell = efanic_map(EFANIC_PAGE),
            .send_entries = cap.max_send_wr, .send_bytes = wanted->sq_ring_size / cap.max_send_wr,
            .receive_entries = wanted->rq_ring_size / RECEIVE_PART_BYTES };
        if (!qp->sends || !qp->send_doorbell || !qp->receives || !qp->receive_doorbell) {
            forget_pair(qp);
            return ENOMEM;
        }
        qp->used = true;
        give_handle(request, UVERBS_ATTR_CREATE_QP_HANDLE, PAIR_HANDLES + i);
        OUTPUT(request, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, uint32_t, qp->number);
        output(request, UVERBS_ATTR_CREATE_QP_RESP_CAP, &cap, sizeof cap);
        OUTPUT(request, UVERBS_ATTR_UHW_OUT, struct efa_ibv_create_qp_resp, {
            .rq_mmap_key = key_of(qp->receives), .rq_mmap_size = qp->receives->bytes,
            .rq_db_mmap_key = key_of(qp->receive_doorbell), .sq_db_mmap_key = key_of(qp->send_doorbell),
            .llq_desc_mmap_key = key_of(qp->sends), .send_sub_cq_idx = 0, .recv_sub_cq_idx = 1 });
        return 0;
    }
    return ENOMEM;
}

static int destroy_pair(struct ib_uverbs_ioctl_hdr *request) {
    forget_pair(pair_at((uint32_t) find(request, UVERBS_ATTR_DESTROY_QP_HANDLE)->data));
    OUTPUT(request, UVERBS_ATTR_DESTROY_QP_RESP, struct ib_uverbs_destroy_qp_resp, { 0 });
    return 0;
}

static int answer(struct ib_uverbs_ioctl_hdr *request) {
#define REQUEST(object, method) ((object) << 16 | (method))
    switch (REQUEST(request->object_id, request->method_id)) {
    case REQUEST(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE):
        return command(request);
    case REQUEST(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT):
        return get_context(request);
    case REQUEST(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT):
        return query_port(request);
    case REQUEST(UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC):
        find(request, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE)->data = (uint64_t) make_channel();
        return 0;
    case REQUEST(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE):
        return create_cq(request);
    case REQUEST(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY):
        return destroy_cq(request);
    case REQUEST(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE):
        return create_pair(request);
    case REQUEST(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY):
        return destroy_pair(request);
    case REQUEST(UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY):
        efanic.regions[find(request, UVERBS_ATTR_DESTROY_MR_HANDLE)->data].bytes = 0;
        return 0;
    case REQUEST(UVERBS_OBJECT_AH, UVERBS_METHOD_AH_DESTROY):
        efanic.addresses[find(request, UVERBS_ATTR_DESTROY_AH_HANDLE)->data].used = false;
        return 0;
    case REQUEST(UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY):
        domains--;
        return 0;
    default:
        return EPROTONOSUPPORT;
    }
}

int efa_answer(void *request) {
    struct ib_uverbs_ioctl_hdr *header = request;
    pthread_mutex_lock(&lock);
    int error;
    if (refused_object == header->object_id) {
        refused_object = -1;
        error = refused_error;
    } else {
        error = answer(header);
    }
    pthread_mutex_unlock(&lock);
    return error;
}

static void *run(void *unused) {
    struct timespec idle = { 0, IDLE_NANOS };
    while (1) {
        pthread_mutex_lock(&lock);
        bool busy = efanic_step();
        pthread_mutex_unlock(&lock);
        if (!busy) {
            nanosleep(&idle, NULL);
        }
    }
    return unused;
}

static void start(void) {
    efanic.notify = notify;
    static const uint8_t gid[] = EFA_GID;
    memcpy(efanic.gid, gid, sizeof gid);
    pthread_t thread;
    if (!pthread_create(&thread, NULL, run, NULL)) {
        pthread_detach(thread);
    }
}

void efa_opened(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start);
}

// For the tests.

// Refuses the next request to an object, such as UVERBS_OBJECT_QP.
void fake_efa_refuse(int object, int error) {
    pthread_mutex_lock(&lock);
    refused_object = object;
    refused_error = error;
    pthread_mutex_unlock(&lock);
}

// Lets the next sends complete with a status of the device.
void fake_efa_fail(int status, int count) {
    pthread_mutex_lock(&lock);
    efanic.forced_status = status;
    efanic.forced_count = count;
    pthread_mutex_unlock(&lock);
}

// Returns how many objects exist: protection domains, regions, address handles, completion queues and queue pairs.
int fake_efa_objects(void) {
    pthread_mutex_lock(&lock);
    int count = (int) domains;
    for (int i = 0; i < EFANIC_REGIONS; i++) {
        count += efanic.regions[i].bytes > 0;
    }
    for (int i = 0; i < EFANIC_ADDRESSES; i++) {
        count += efanic.addresses[i].used;
    }
    for (int i = 0; i < EFANIC_COMPLETION_QUEUES; i++) {
        count += efanic.cqs[i].used;
    }
    for (int i = 0; i < EFANIC_QUEUE_PAIRS; i++) {
        count += efanic.qps[i].used;
    }
    pthread_mutex_unlock(&lock);
    return count;
}

// Returns how many entries were malformed, or had the wrong phase.
long fake_efa_bad_entries(void) {
    pthread_mutex_lock(&lock);
    long count = (long) efanic.bad_entries;
    pthread_mutex_unlock(&lock);
    return count;
}

// Copies the send entry that was taken last but the given number, and returns how many were taken so far.
long fake_efa_taken(int before, void *entry) {
    pthread_mutex_lock(&lock);
    long taken = (long) efanic.taken;
    if (before < taken && before < EFANIC_TRACES) {
        memcpy(entry, efanic.traces[(taken - 1 - before) % EFANIC_TRACES], EFANIC_MOST_ENTRY);
    }
    pthread_mutex_unlock(&lock);
    return taken;
}
