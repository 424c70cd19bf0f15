// SPDX-License-Identifier: Apache-2.0
// What a C program would post to a queue pair that Java has created: the tests compare the entries.
#include <endian.h>

#include <infiniband/verbs.h>

struct request {
    struct ibv_qp *qp;
    struct ibv_ah *ah;
    uint64_t local_address;
    uint64_t remote_address;
    uint32_t number;
    uint32_t queue_key;
    uint32_t local_key;
    uint32_t remote_key;
    uint32_t length;
    uint32_t immediate;
    // an opcode of enum ibv_wr_opcode
    uint32_t opcode;
    uint32_t is_inline;
};

int efa_twin_post(struct request *request) {
    struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(request->qp);
    ibv_wr_start(qp);
    qp->wr_id = 7;
    qp->wr_flags = IBV_SEND_SIGNALED | (request->is_inline ? IBV_SEND_INLINE : 0);
    switch (request->opcode) {
    case IBV_WR_SEND:
        ibv_wr_send(qp);
        break;
    case IBV_WR_SEND_WITH_IMM:
        ibv_wr_send_imm(qp, htobe32(request->immediate));
        break;
    case IBV_WR_RDMA_READ:
        ibv_wr_rdma_read(qp, request->remote_key, request->remote_address);
        break;
    case IBV_WR_RDMA_WRITE:
        ibv_wr_rdma_write(qp, request->remote_key, request->remote_address);
        break;
    default:
        ibv_wr_rdma_write_imm(qp, request->remote_key, request->remote_address, htobe32(request->immediate));
    }
    ibv_wr_set_ud_addr(qp, request->ah, request->number, request->queue_key);
    if (request->is_inline) {
        ibv_wr_set_inline_data(qp, (void *) (uintptr_t) request->local_address, request->length);
    } else {
        ibv_wr_set_sge(qp, request->local_key, request->local_address, request->length);
    }
    return ibv_wr_complete(qp);
}

// The same by the classic call, which carries messages only.
int efa_twin_post_send(struct request *request) {
    struct ibv_sge part = { request->local_address, request->length, request->local_key };
    struct ibv_send_wr wr = { .wr_id = 7, .sg_list = &part, .num_sge = 1, .opcode = request->opcode,
        .send_flags = IBV_SEND_SIGNALED | (request->is_inline ? IBV_SEND_INLINE : 0),
        .imm_data = htobe32(request->immediate),
        .wr.ud = { request->ah, request->number, request->queue_key } };
    struct ibv_send_wr *bad;
    return ibv_post_send(request->qp, &wr, &bad);
}
