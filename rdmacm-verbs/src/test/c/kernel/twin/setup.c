// SPDX-License-Identifier: Apache-2.0
/* Opens the device and makes the objects of an operation, in the order in which the test in Java makes them. */
#include <string.h>

#include "twin.h"

#define TRY(wanted) do { if (!(wanted)) return #wanted; } while (0)
#define ACCESS (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

bool in_batches(enum queues queues) { return queues < CLASSIC_RC; }

static bool is_direct(enum queues queues) { return queues == UMR || queues == DCI || queues == DCI_STREAMS; }

static enum ibv_qp_type type_of(enum queues queues) {
    switch (queues) {
    case UC:
    case CLASSIC_UC:
        return IBV_QPT_UC;
    case UD:
    case CLASSIC_UD:
        return IBV_QPT_UD;
    case XRC:
    case CLASSIC_XRC:
        return IBV_QPT_XRC_SEND;
    case DCI:
    case DCI_STREAMS:
        return IBV_QPT_DRIVER;
    default:
        return IBV_QPT_RC;
    }
}

static uint64_t operations_of(enum queues queues) {
    uint64_t all = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;
    if (queues == UD) return all;
    all |= IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
    if (queues == UC) return all;
    all |= IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
    if (queues == RC) all |= IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW;
    return all;
}

static struct ibv_qp *create(struct twin *twin, enum queues queues) {
    bool receives = type_of(queues) == IBV_QPT_RC || type_of(queues) == IBV_QPT_UC || type_of(queues) == IBV_QPT_UD;
    struct ibv_qp_cap sizes = {.max_send_wr = DEPTH, .max_recv_wr = receives && !twin->shared ? RECEIVES : 0,
        .max_send_sge = PARTS, .max_recv_sge = receives && !twin->shared ? PARTS : 0,
        .max_inline_data = INLINE_BYTES};
    if (queues == CLASSIC_RC || queues == CLASSIC_UC || queues == CLASSIC_UD || queues == CLASSIC_XRC
            || queues == SHARED) {
        return ibv_create_qp(twin->domain, &(struct ibv_qp_init_attr){.send_cq = twin->completions,
            .recv_cq = twin->completions, .srq = twin->shared, .cap = sizes, .qp_type = type_of(queues)});
    }
    struct ibv_qp_init_attr_ex attributes = {.send_cq = twin->completions, .recv_cq = twin->completions,
        .srq = twin->shared, .cap = sizes, .qp_type = type_of(queues), .pd = twin->domain,
        .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS, .send_ops_flags = operations_of(queues)};
    if (!is_direct(queues)) return ibv_create_qp_ex(twin->context, &attributes);
    struct mlx5dv_qp_init_attr direct = {.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS,
        .send_ops_flags = MLX5DV_QP_EX_WITH_MR_INTERLEAVED | MLX5DV_QP_EX_WITH_MR_LIST
            | MLX5DV_QP_EX_WITH_MKEY_CONFIGURE | MLX5DV_QP_EX_WITH_RAW_WQE};
    if (queues == UMR) return mlx5dv_create_qp(twin->context, &attributes, &direct);
    direct = (struct mlx5dv_qp_init_attr){.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC,
        .dc_init_attr = {.dc_type = MLX5DV_DCTYPE_DCI}};
    if (queues == DCI_STREAMS) {
        direct.comp_mask |= MLX5DV_QP_INIT_ATTR_MASK_DCI_STREAMS;
        direct.dc_init_attr.dci_streams = (struct mlx5dv_dci_streams){2, 1};
    }
    return mlx5dv_create_qp(twin->context, &attributes, &direct);
}

static struct ibv_ah_attr path(void) {
    struct ibv_ah_attr path = {.is_global = 1, .port_num = PORT, .grh = {.hop_limit = 64, .flow_label = FLOW_LABEL}};
    memcpy(path.grh.dgid.raw, (uint8_t[16]){[10] = 0xff, 0xff, 127, 0, 0, 1}, sizeof path.grh.dgid.raw);
    return path;
}

/* Connects the queue pair to itself. */
static const char *connect_pair(struct twin *twin, enum queues queues) {
    enum ibv_qp_type type = type_of(queues);
    bool reliable = type == IBV_QPT_RC || type == IBV_QPT_XRC_SEND, connected = reliable || type == IBV_QPT_UC;
    bool initiator = type == IBV_QPT_DRIVER, datagram = type == IBV_QPT_UD;
    struct ibv_qp_attr to = {.qp_state = IBV_QPS_INIT, .port_num = PORT, .qp_access_flags = ACCESS,
        .qkey = QUEUE_KEY};
    TRY(!ibv_modify_qp(twin->pair, &to, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT
            | (connected ? IBV_QP_ACCESS_FLAGS : 0) | (datagram ? IBV_QP_QKEY : 0)));
    to = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .max_dest_rd_atomic = 1,
        .min_rnr_timer = 12, .dest_qp_num = twin->pair->qp_num};
    if (connected) to.ah_attr = path();
    TRY(!ibv_modify_qp(twin->pair, &to, IBV_QP_STATE | (connected ? IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN
            | IBV_QP_RQ_PSN : 0) | (type == IBV_QPT_RC ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0)
            | (initiator ? IBV_QP_PATH_MTU : 0)));
    to = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7,
        .max_rd_atomic = 1};
    TRY(!ibv_modify_qp(twin->pair, &to, IBV_QP_STATE | IBV_QP_SQ_PSN | (reliable || initiator ? IBV_QP_TIMEOUT
            | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC : 0)));
    return NULL;
}

static struct ibv_context *open_device(void) {
    int count;
    struct ibv_device **devices = ibv_get_device_list(&count);
    struct ibv_context *context = devices && count ? ibv_open_device(devices[0]) : NULL;
    if (devices) ibv_free_device_list(devices);
    return context;
}

const char *twin_open(struct twin *twin, enum queues queues, void *memory, size_t bytes) {
    twin->memory = memory;
    twin->local = (uintptr_t)memory;
    twin->remote = twin->local + 4096;
    TRY(twin->context = open_device());
    TRY(twin->domain = ibv_alloc_pd(twin->context));
    TRY(twin->region = ibv_reg_mr(twin->domain, memory, bytes, IBV_ACCESS_LOCAL_WRITE | ACCESS | IBV_ACCESS_MW_BIND));
    TRY(twin->channel = ibv_create_comp_channel(twin->context));
    TRY(twin->completions = ibv_create_cq(twin->context, COMPLETIONS, NULL, twin->channel, 0));
    if (queues == SHARED) {
        TRY(twin->shared = ibv_create_srq(twin->domain, &(struct ibv_srq_init_attr){.attr = {RECEIVES, PARTS, 0}}));
    }
    TRY(twin->pair = create(twin, queues));
    if (in_batches(queues)) TRY(twin->batch = ibv_qp_to_qp_ex(twin->pair));
    if (is_direct(queues)) TRY(twin->direct = mlx5dv_qp_ex_from_ibv_qp_ex(twin->batch));
    const char *failed = connect_pair(twin, queues);
    if (failed) return failed;
    struct ibv_ah_attr to = path();
    TRY(twin->address = ibv_create_ah(twin->domain, &to));
    TRY(twin->key = mlx5dv_create_mkey(&(struct mlx5dv_mkey_init_attr){.pd = twin->domain,
        .create_flags = MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT, .max_entries = PARTS}));
    TRY(twin->window = ibv_alloc_mw(twin->domain, IBV_MW_TYPE_2));
    return NULL;
}

const char *twin_close(struct twin *twin) {
    if (twin->window) TRY(!ibv_dealloc_mw(twin->window));
    if (twin->key) TRY(!mlx5dv_destroy_mkey(twin->key));
    if (twin->address) TRY(!ibv_destroy_ah(twin->address));
    if (twin->pair) TRY(!ibv_destroy_qp(twin->pair));
    if (twin->shared) TRY(!ibv_destroy_srq(twin->shared));
    if (twin->completions) TRY(!ibv_destroy_cq(twin->completions));
    if (twin->channel) TRY(!ibv_destroy_comp_channel(twin->channel));
    if (twin->region) TRY(!ibv_dereg_mr(twin->region));
    if (twin->domain) TRY(!ibv_dealloc_pd(twin->domain));
    if (twin->context) TRY(!ibv_close_device(twin->context));
    return NULL;
}
