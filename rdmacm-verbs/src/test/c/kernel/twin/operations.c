// SPDX-License-Identifier: Apache-2.0
/* The operations, as a program in C does them. */
#include <endian.h>
#include <string.h>

#include "twin.h"

#define LIST(...) (sizeof((struct ibv_sge[]){__VA_ARGS__}) / sizeof(struct ibv_sge)), (struct ibv_sge[]){__VA_ARGS__}
#define THREE(twin) LIST(part(twin, 0, 10), part(twin, 100, 20), part(twin, 300, 30))

static struct ibv_sge part(const struct twin *twin, uint64_t offset, uint32_t length) {
    return (struct ibv_sge){twin->local + offset, length, twin->region->lkey};
}

/* ---- batches ---- */

#define BATCH(name, ...) \
    static int name(struct twin *twin) { \
        struct ibv_qp_ex *to = twin->batch; \
        uint32_t key = twin->region->rkey; \
        (void)key; \
        __VA_ARGS__; \
        return 0; \
    }
#define DATA(offset, length) ibv_wr_set_sge(to, twin->region->lkey, twin->local + (offset), length)
#define INLINE_DATA(offset, length) ibv_wr_set_inline_data(to, twin->memory + (offset), length)

BATCH(send, ibv_wr_send(to); DATA(8, 48))
BATCH(send_unsignaled, to->wr_flags = 0; ibv_wr_send(to); DATA(8, 48))
BATCH(send_solicited, to->wr_flags |= IBV_SEND_SOLICITED; ibv_wr_send(to); DATA(8, 48))
BATCH(send_fence, to->wr_flags |= IBV_SEND_FENCE; ibv_wr_send(to); DATA(8, 48))
BATCH(send_immediate, ibv_wr_send_imm(to, htobe32(IMMEDIATE)); DATA(0, 64))
BATCH(send_invalidate, ibv_wr_send_inv(to, key); DATA(0, 64))
BATCH(send_list, ibv_wr_send(to); ibv_wr_set_sge_list(to, THREE(twin)))
BATCH(send_nothing, ibv_wr_send(to); ibv_wr_set_sge_list(to, 0, NULL))
BATCH(send_inline, to->wr_flags |= IBV_SEND_INLINE; ibv_wr_send(to); INLINE_DATA(5, 23))
BATCH(send_inline_long, to->wr_flags |= IBV_SEND_INLINE; ibv_wr_send(to); INLINE_DATA(1, INLINE_BYTES))
BATCH(send_inline_list, to->wr_flags |= IBV_SEND_INLINE; ibv_wr_send(to);
        ibv_wr_set_inline_data_list(to, 2, (struct ibv_data_buf[]){{twin->memory, 7}, {twin->memory + 50, 13}}))
BATCH(write, ibv_wr_rdma_write(to, key, twin->remote); DATA(16, 100))
BATCH(write_list, ibv_wr_rdma_write(to, key, twin->remote); ibv_wr_set_sge_list(to, THREE(twin)))
BATCH(write_inline, to->wr_flags |= IBV_SEND_INLINE; ibv_wr_rdma_write(to, key, twin->remote); INLINE_DATA(9, 31))
BATCH(write_immediate, ibv_wr_rdma_write_imm(to, key, twin->remote, htobe32(IMMEDIATE)); DATA(16, 100))
BATCH(read_memory, ibv_wr_rdma_read(to, key, twin->remote); DATA(16, 100))
BATCH(read_list, ibv_wr_rdma_read(to, key, twin->remote); ibv_wr_set_sge_list(to, THREE(twin)))
BATCH(compare_and_swap, ibv_wr_atomic_cmp_swp(to, key, twin->remote, 0x0102030405060708, 0x1112131415161718);
        DATA(64, 8))
BATCH(fetch_and_add, ibv_wr_atomic_fetch_add(to, key, twin->remote, 0x0102030405060708); DATA(64, 8))
BATCH(local_invalidate, ibv_wr_local_inv(to, twin->window->rkey))
BATCH(bind_window, ibv_wr_bind_mw(to, twin->window, ibv_inc_rkey(twin->window->rkey), &(struct ibv_mw_bind_info){
        twin->region, twin->local + 128, 256, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE}))
BATCH(several, ibv_wr_send(to); DATA(8, 48);
        to->wr_id = ID + 1; to->wr_flags = 0; ibv_wr_rdma_write(to, key, twin->remote); DATA(16, 100);
        to->wr_id = ID + 2; to->wr_flags = IBV_SEND_INLINE; ibv_wr_send(to); INLINE_DATA(0, 90);
        to->wr_id = ID + 3; to->wr_flags = IBV_SEND_SIGNALED; ibv_wr_rdma_read(to, key, twin->remote); DATA(0, 8))

#define DATAGRAM ibv_wr_set_ud_addr(to, twin->address, twin->pair->qp_num, QUEUE_KEY)
BATCH(datagram, ibv_wr_send(to); DATAGRAM; DATA(8, 48))
BATCH(datagram_immediate, ibv_wr_send_imm(to, htobe32(IMMEDIATE)); DATAGRAM; DATA(8, 48))
BATCH(datagram_inline, to->wr_flags |= IBV_SEND_INLINE; ibv_wr_send(to); DATAGRAM; INLINE_DATA(5, 23))
BATCH(datagram_list, ibv_wr_send(to); DATAGRAM; ibv_wr_set_sge_list(to, THREE(twin)))

BATCH(xrc_send, ibv_wr_send(to); ibv_wr_set_xrc_srqn(to, REMOTE_QUEUE); DATA(8, 48))
BATCH(xrc_write, ibv_wr_rdma_write(to, key, twin->remote); ibv_wr_set_xrc_srqn(to, REMOTE_QUEUE); DATA(8, 48))

/* ---- dynamic connections ---- */

#define TO_TARGET mlx5dv_wr_set_dc_addr(twin->direct, twin->address, TARGET, TARGET_KEY)
BATCH(dc_send, ibv_wr_send(to); TO_TARGET; DATA(8, 48))
BATCH(dc_send_inline, to->wr_flags |= IBV_SEND_INLINE; ibv_wr_send(to); TO_TARGET; INLINE_DATA(5, 23))
BATCH(dc_send_immediate, ibv_wr_send_imm(to, htobe32(IMMEDIATE)); TO_TARGET; DATA(8, 48))
BATCH(dc_write, ibv_wr_rdma_write(to, key, twin->remote); TO_TARGET; DATA(8, 48))
BATCH(dc_read, ibv_wr_rdma_read(to, key, twin->remote); TO_TARGET; DATA(8, 48))
BATCH(dc_compare_and_swap, ibv_wr_atomic_cmp_swp(to, key, twin->remote, 1, 2); TO_TARGET; DATA(64, 8))
BATCH(dc_fetch_and_add, ibv_wr_atomic_fetch_add(to, key, twin->remote, 3); TO_TARGET; DATA(64, 8))
BATCH(dc_stream, ibv_wr_send(to);
        mlx5dv_wr_set_dc_addr_stream(twin->direct, twin->address, TARGET, TARGET_KEY, 3); DATA(8, 48))

/* ---- keys ---- */

#define RIGHTS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ)
#define INTERLEAVED (struct mlx5dv_mr_interleaved[]){{twin->local + 32, 16, 240, twin->region->lkey}, \
        {twin->local + 4096, 64, 0, twin->region->lkey}}
#define SCATTERED LIST(part(twin, 0, 100), part(twin, 8192, 200))
#define CONFIGURE(count, flags) mlx5dv_wr_mkey_configure(twin->direct, twin->key, count, \
        &(struct mlx5dv_mkey_conf_attr){.conf_flags = flags})

BATCH(interleaved, to->wr_flags |= IBV_SEND_INLINE;
        mlx5dv_wr_mr_interleaved(twin->direct, twin->key, RIGHTS, 8, 2, INTERLEAVED))
BATCH(list, to->wr_flags |= IBV_SEND_INLINE; mlx5dv_wr_mr_list(twin->direct, twin->key, RIGHTS, SCATTERED))
BATCH(configure_list, to->wr_flags |= IBV_SEND_INLINE; CONFIGURE(2, 0);
        mlx5dv_wr_set_mkey_access_flags(twin->direct, RIGHTS);
        mlx5dv_wr_set_mkey_layout_list(twin->direct, SCATTERED))
BATCH(configure_interleaved, to->wr_flags |= IBV_SEND_INLINE; CONFIGURE(2, 0);
        mlx5dv_wr_set_mkey_access_flags(twin->direct, RIGHTS);
        mlx5dv_wr_set_mkey_layout_interleaved(twin->direct, 8, 2, INTERLEAVED))
BATCH(configure_access, to->wr_flags |= IBV_SEND_INLINE; CONFIGURE(1, 0);
        mlx5dv_wr_set_mkey_access_flags(twin->direct, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC
            | IBV_ACCESS_LOCAL_WRITE))
BATCH(register_and_send, to->wr_flags |= IBV_SEND_INLINE;
        mlx5dv_wr_mr_list(twin->direct, twin->key, RIGHTS, SCATTERED);
        to->wr_id = ID + 1; to->wr_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE; ibv_wr_send(to);
        ibv_wr_set_sge(to, twin->key->lkey, 0, 300))

/* ---- entries that the program forms ---- */

struct masked_add {
    struct mlx5_wqe_ctrl_seg control;
    struct mlx5_wqe_raddr_seg remote;
    uint64_t addend, boundaries;
    struct mlx5_wqe_data_seg data;
};

static struct mlx5_wqe_ctrl_seg control_of(const struct twin *twin, uint32_t opcode, uint32_t modifier, size_t bytes) {
    return (struct mlx5_wqe_ctrl_seg){.opmod_idx_opcode = htobe32(modifier << 24 | opcode),
        .qpn_ds = htobe32(twin->pair->qp_num << 8 | (uint32_t)(bytes / 16)), .fm_ce_se = MLX5_WQE_CTRL_CQ_UPDATE};
}

BATCH(raw_masked_add, struct masked_add entry = {
        .control = control_of(twin, MLX5_OPCODE_ATOMIC_MASKED_FA, 9, sizeof entry),
        .remote = {.raddr = htobe64(twin->remote), .rkey = htobe32(key)},
        .addend = htobe64(0x0000000100000002), .boundaries = htobe64(0x8000000080000000),
        .data = {htobe32(8), htobe32(twin->region->lkey), htobe64(twin->local + 64)}};
        to->wr_flags = 0; mlx5dv_wr_raw_wqe(twin->direct, &entry))

struct masked_add_long {
    struct mlx5_wqe_ctrl_seg control;
    struct mlx5_wqe_raddr_seg remote;
    uint8_t addend[32], boundaries[32];
    struct mlx5_wqe_data_seg data;
};

BATCH(raw_masked_add_long, struct masked_add_long entry = {
        .control = control_of(twin, MLX5_OPCODE_ATOMIC_MASKED_FA, 11, sizeof entry),
        .remote = {.raddr = htobe64(twin->remote), .rkey = htobe32(key)},
        .addend = {1, [30] = 2, 3}, .boundaries = {0x80, [31] = 0x40},
        .data = {htobe32(32), htobe32(twin->region->lkey), htobe64(twin->local + 64)}};
        to->wr_flags = 0; mlx5dv_wr_raw_wqe(twin->direct, &entry))

struct masked_swap {
    struct mlx5_wqe_ctrl_seg control;
    struct mlx5_wqe_raddr_seg remote;
    uint64_t replacement, expected, swapped, compared;
    struct mlx5_wqe_data_seg data;
};

BATCH(raw_masked_swap, struct masked_swap entry = {
        .control = control_of(twin, MLX5_OPCODE_ATOMIC_MASKED_CS, 9, sizeof entry),
        .remote = {.raddr = htobe64(twin->remote), .rkey = htobe32(key)},
        .replacement = htobe64(0x11), .expected = htobe64(0x22), .swapped = htobe64(0xff00),
        .compared = htobe64(0x0ff0),
        .data = {htobe32(8), htobe32(twin->region->lkey), htobe64(twin->local + 64)}};
        to->wr_flags = 0; mlx5dv_wr_raw_wqe(twin->direct, &entry))

struct masked_swap_wide {
    struct mlx5_wqe_ctrl_seg control;
    struct mlx5_wqe_raddr_seg remote;
    uint8_t replacement[16], expected[16], swapped[16], compared[16];
    struct mlx5_wqe_data_seg data;
};

BATCH(raw_masked_swap_wide, struct masked_swap_wide entry = {
        .control = control_of(twin, MLX5_OPCODE_ATOMIC_MASKED_CS, 10, sizeof entry),
        .remote = {.raddr = htobe64(twin->remote), .rkey = htobe32(key)},
        .replacement = {[15] = 1}, .expected = {[15] = 2}, .swapped = {3}, .compared = {4},
        .data = {htobe32(16), htobe32(twin->region->lkey), htobe64(twin->local + 64)}};
        to->wr_flags = 0; mlx5dv_wr_raw_wqe(twin->direct, &entry))

struct wait {
    struct mlx5_wqe_ctrl_seg control;
    uint32_t reserved[2], index, number;
};

BATCH(raw_wait, struct wait entry = {.control = control_of(twin, 0x0f, 0, sizeof entry), .index = htobe32(5),
        .number = htobe32(0x123)}; to->wr_flags = 0; mlx5dv_wr_raw_wqe(twin->direct, &entry))
BATCH(raw_send_enable, struct wait entry = {.control = control_of(twin, 0x17, 0, sizeof entry), .index = htobe32(9),
        .number = htobe32(0x321)}; to->wr_flags = 0; mlx5dv_wr_raw_wqe(twin->direct, &entry))

/* ---- ibv_post_send ---- */

static int post(struct twin *twin, struct ibv_send_wr request) {
    struct ibv_send_wr *bad;
    request.wr_id = ID;
    return ibv_post_send(twin->pair, &request, &bad);
}

#define POST(name, ...) static int name(struct twin *twin) { return post(twin, (struct ibv_send_wr){__VA_ARGS__}); }
#define ONE(offset, length) .num_sge = 1, .sg_list = (struct ibv_sge[]){part(twin, offset, length)}
#define PARTS_OF_THREE .num_sge = 3, .sg_list = (struct ibv_sge[]){part(twin, 0, 10), part(twin, 100, 20), \
        part(twin, 300, 30)}
#define SIGNALED .send_flags = IBV_SEND_SIGNALED
#define SIGNALED_INLINE .send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE
#define REMOTE .wr.rdma = {twin->remote, twin->region->rkey}

POST(post_send, .opcode = IBV_WR_SEND, ONE(8, 48), SIGNALED)
POST(post_send_unsignaled, .opcode = IBV_WR_SEND, ONE(8, 48))
POST(post_send_solicited, .opcode = IBV_WR_SEND, ONE(8, 48), .send_flags = IBV_SEND_SIGNALED | IBV_SEND_SOLICITED)
POST(post_send_fence, .opcode = IBV_WR_SEND, ONE(8, 48), .send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE)
POST(post_send_immediate, .opcode = IBV_WR_SEND_WITH_IMM, ONE(8, 48), SIGNALED, .imm_data = htobe32(IMMEDIATE))
POST(post_send_invalidate, .opcode = IBV_WR_SEND_WITH_INV, ONE(8, 48), SIGNALED,
        .invalidate_rkey = twin->region->rkey)
POST(post_send_list, .opcode = IBV_WR_SEND, PARTS_OF_THREE, SIGNALED)
POST(post_send_inline, .opcode = IBV_WR_SEND, ONE(5, 23), SIGNALED_INLINE)
POST(post_send_inline_list, .opcode = IBV_WR_SEND, PARTS_OF_THREE, SIGNALED_INLINE)
POST(post_write, .opcode = IBV_WR_RDMA_WRITE, ONE(16, 100), SIGNALED, REMOTE)
POST(post_write_inline, .opcode = IBV_WR_RDMA_WRITE, ONE(9, 31), SIGNALED_INLINE, REMOTE)
POST(post_write_immediate, .opcode = IBV_WR_RDMA_WRITE_WITH_IMM, ONE(16, 100), SIGNALED, REMOTE,
        .imm_data = htobe32(IMMEDIATE))
POST(post_read, .opcode = IBV_WR_RDMA_READ, ONE(16, 100), SIGNALED, REMOTE)
POST(post_compare_and_swap, .opcode = IBV_WR_ATOMIC_CMP_AND_SWP, ONE(64, 8), SIGNALED,
        .wr.atomic = {twin->remote, 0x0102030405060708, 0x1112131415161718, twin->region->rkey})
POST(post_fetch_and_add, .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, ONE(64, 8), SIGNALED,
        .wr.atomic = {twin->remote, 0x0102030405060708, 0, twin->region->rkey})
POST(post_local_invalidate, .opcode = IBV_WR_LOCAL_INV, SIGNALED, .invalidate_rkey = twin->window->rkey)
POST(post_bind_window, .opcode = IBV_WR_BIND_MW, SIGNALED, .bind_mw = {twin->window,
        ibv_inc_rkey(twin->window->rkey),
        {twin->region, twin->local + 128, 256, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE}})
POST(post_datagram, .opcode = IBV_WR_SEND, ONE(8, 48), SIGNALED,
        .wr.ud = {twin->address, twin->pair->qp_num, QUEUE_KEY})
POST(post_datagram_inline, .opcode = IBV_WR_SEND, ONE(5, 23), SIGNALED_INLINE,
        .wr.ud = {twin->address, twin->pair->qp_num, QUEUE_KEY})
POST(post_xrc_send, .opcode = IBV_WR_SEND, ONE(8, 48), SIGNALED, .qp_type.xrc = {REMOTE_QUEUE})

static int post_several(struct twin *twin) {
    struct ibv_sge parts[3] = {part(twin, 0, 16), part(twin, 32, 48), part(twin, 0, 70)};
    struct ibv_send_wr requests[3] = {
        {.wr_id = ID, .next = &requests[1], .sg_list = &parts[0], .num_sge = 1, .opcode = IBV_WR_SEND},
        {.wr_id = ID + 1, .next = &requests[2], .sg_list = &parts[1], .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
            .wr.rdma = {twin->remote, twin->region->rkey}},
        {.wr_id = ID + 2, .sg_list = &parts[2], .num_sge = 1, .opcode = IBV_WR_SEND, SIGNALED_INLINE}};
    struct ibv_send_wr *bad;
    return ibv_post_send(twin->pair, requests, &bad);
}

/* ---- receives and completions ---- */

#define RECEIVE_REQUESTS \
    struct ibv_sge parts[4] = {part(twin, 0, 64), part(twin, 64, 10), part(twin, 128, 20), part(twin, 256, 30)}; \
    struct ibv_recv_wr requests[2] = {{ID, &requests[1], &parts[0], 1}, {ID + 1, NULL, &parts[1], 3}}, *bad

static int receive(struct twin *twin) {
    RECEIVE_REQUESTS;
    return ibv_post_recv(twin->pair, requests, &bad);
}

static int shared_receive(struct twin *twin) {
    RECEIVE_REQUESTS;
    return ibv_post_srq_recv(twin->shared, requests, &bad);
}

static int notify(struct twin *twin) { return ibv_req_notify_cq(twin->completions, 0); }

static int notify_solicited(struct twin *twin) { return ibv_req_notify_cq(twin->completions, 1); }

const struct operation operations[] = {
    {"send", RC, send}, {"send, unsignaled", RC, send_unsignaled}, {"send, solicited", RC, send_solicited},
    {"send, fence", RC, send_fence}, {"send with immediate", RC, send_immediate},
    {"send with invalidate", RC, send_invalidate}, {"send of a list", RC, send_list},
    {"send of nothing", RC, send_nothing}, {"send inline", RC, send_inline},
    {"send inline, as much as there is room for", RC, send_inline_long},
    {"send inline of a list", RC, send_inline_list}, {"write", RC, write}, {"write of a list", RC, write_list},
    {"write inline", RC, write_inline}, {"write with immediate", RC, write_immediate}, {"read", RC, read_memory},
    {"read into a list", RC, read_list}, {"compare and swap", RC, compare_and_swap},
    {"fetch and add", RC, fetch_and_add}, {"local invalidate", RC, local_invalidate},
    {"bind a window", RC, bind_window}, {"several in a batch", RC, several},
    {"send, UC", UC, send}, {"write with immediate, UC", UC, write_immediate},
    {"datagram", UD, datagram}, {"datagram with immediate", UD, datagram_immediate},
    {"datagram inline", UD, datagram_inline}, {"datagram of a list", UD, datagram_list},
    {"send, XRC", XRC, xrc_send}, {"write, XRC", XRC, xrc_write},
    {"send, DC", DCI, dc_send}, {"send inline, DC", DCI, dc_send_inline},
    {"send with immediate, DC", DCI, dc_send_immediate}, {"write, DC", DCI, dc_write}, {"read, DC", DCI, dc_read},
    {"compare and swap, DC", DCI, dc_compare_and_swap}, {"fetch and add, DC", DCI, dc_fetch_and_add},
    {"send in a stream, DC", DCI_STREAMS, dc_stream},
    {"key for interleaved memory", UMR, interleaved}, {"key for a list", UMR, list},
    {"configure a key, list", UMR, configure_list},
    {"configure a key, interleaved memory", UMR, configure_interleaved},
    {"configure a key, access", UMR, configure_access}, {"key for a list, and a send of it", UMR, register_and_send},
    {"raw masked fetch and add", UMR, raw_masked_add},
    {"raw masked fetch and add of 32 bytes", UMR, raw_masked_add_long},
    {"raw masked compare and swap", UMR, raw_masked_swap},
    {"raw masked compare and swap of 16 bytes", UMR, raw_masked_swap_wide}, {"raw wait", UMR, raw_wait},
    {"raw send enable", UMR, raw_send_enable},
    {"post send", CLASSIC_RC, post_send}, {"post send, unsignaled", CLASSIC_RC, post_send_unsignaled},
    {"post send, solicited", CLASSIC_RC, post_send_solicited}, {"post send, fence", CLASSIC_RC, post_send_fence},
    {"post send with immediate", CLASSIC_RC, post_send_immediate},
    {"post send with invalidate", CLASSIC_RC, post_send_invalidate},
    {"post send of a list", CLASSIC_RC, post_send_list}, {"post send inline", CLASSIC_RC, post_send_inline},
    {"post send inline of a list", CLASSIC_RC, post_send_inline_list}, {"post write", CLASSIC_RC, post_write},
    {"post write inline", CLASSIC_RC, post_write_inline},
    {"post write with immediate", CLASSIC_RC, post_write_immediate}, {"post read", CLASSIC_RC, post_read},
    {"post compare and swap", CLASSIC_RC, post_compare_and_swap},
    {"post fetch and add", CLASSIC_RC, post_fetch_and_add},
    {"post local invalidate", CLASSIC_RC, post_local_invalidate},
    {"post bind a window", CLASSIC_RC, post_bind_window}, {"post several", CLASSIC_RC, post_several},
    {"post send, UC", CLASSIC_UC, post_send}, {"post datagram", CLASSIC_UD, post_datagram},
    {"post datagram inline", CLASSIC_UD, post_datagram_inline}, {"post send, XRC", CLASSIC_XRC, post_xrc_send},
    {"receive", CLASSIC_RC, receive}, {"shared receive", SHARED, shared_receive},
    {"notify", CLASSIC_RC, notify}, {"notify, solicited only", CLASSIC_RC, notify_solicited},
    {NULL, RC, NULL},
};
