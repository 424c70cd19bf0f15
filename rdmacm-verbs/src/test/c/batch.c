// SPDX-License-Identifier: Apache-2.0
// A batch of send work requests as a C program writes it, by the functions of verbs.h: what SendBatch is compared with.
#include "fakeverbs.h"

#include <arpa/inet.h>
#include <string.h>

enum { MOST_PARTS = 4 };

void oracle_batch_start(struct ibv_qp_ex *qp)
{
	ibv_wr_start(qp);
}

int oracle_batch_complete(struct ibv_qp_ex *qp)
{
	return ibv_wr_complete(qp);
}

struct oracle_request {
	uint64_t operation; // one of IBV_QP_EX_WITH_
	uint64_t id;
	uint64_t flags;
	uint64_t key;
	uint64_t address;
	uint64_t operand; // the immediate value in the byte order of the machine, what is compared, added or written
	uint64_t swap;
	uint64_t headers; // where the bytes before a stream are
	uint64_t header_size;
	uint64_t window;
	uint64_t region;
	uint64_t length;
	uint64_t access;
	uint64_t placement;
	uint64_t level;
};

void oracle_batch_request(struct ibv_qp_ex *qp, const struct oracle_request *r)
{
	qp->wr_id = r->id;
	qp->wr_flags = r->flags;
	switch (r->operation) {
	case IBV_QP_EX_WITH_SEND:
		ibv_wr_send(qp);
		break;
	case IBV_QP_EX_WITH_SEND_WITH_IMM:
		ibv_wr_send_imm(qp, htonl(r->operand));
		break;
	case IBV_QP_EX_WITH_SEND_WITH_INV:
		ibv_wr_send_inv(qp, r->key);
		break;
	case IBV_QP_EX_WITH_TSO:
		ibv_wr_send_tso(qp, (void *)r->headers, r->header_size, r->operand);
		break;
	case IBV_QP_EX_WITH_RDMA_WRITE:
		ibv_wr_rdma_write(qp, r->key, r->address);
		break;
	case IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM:
		ibv_wr_rdma_write_imm(qp, r->key, r->address, htonl(r->operand));
		break;
	case IBV_QP_EX_WITH_RDMA_READ:
		ibv_wr_rdma_read(qp, r->key, r->address);
		break;
	case IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP:
		ibv_wr_atomic_cmp_swp(qp, r->key, r->address, r->operand, r->swap);
		break;
	case IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD:
		ibv_wr_atomic_fetch_add(qp, r->key, r->address, r->operand);
		break;
	case IBV_QP_EX_WITH_ATOMIC_WRITE:
		ibv_wr_atomic_write(qp, r->key, r->address, &r->operand);
		break;
	case FAKE_EX_WITH_FLUSH:
		// as the inline function of rdma-core 45
		(*(fake_wr_flush **)((char *)qp + FAKE_WR_FLUSH))(qp, r->key, r->address, r->operand, r->placement, r->level);
		break;
	case IBV_QP_EX_WITH_LOCAL_INV:
		ibv_wr_local_inv(qp, r->key);
		break;
	case IBV_QP_EX_WITH_BIND_MW: {
		struct ibv_mw_bind_info info;
		memset(&info, 0, sizeof(info)); // what lies between the members, too
		info.mr = (struct ibv_mr *)r->region;
		info.addr = r->address;
		info.length = r->length;
		info.mw_access_flags = r->access;
		ibv_wr_bind_mw(qp, (struct ibv_mw *)r->window, r->key, &info);
		break;
	}
	}
}

void oracle_batch_datagram(struct ibv_qp_ex *qp, struct ibv_ah *ah, uint32_t number, uint32_t key)
{
	ibv_wr_set_ud_addr(qp, ah, number, key);
}

void oracle_batch_shared_queue(struct ibv_qp_ex *qp, uint32_t number)
{
	ibv_wr_set_xrc_srqn(qp, number);
}

// The parts of one region; a single one is given without a list.
void oracle_batch_parts(struct ibv_qp_ex *qp, uint32_t key, const uint64_t *addresses, const uint32_t *lengths,
			int count)
{
	struct ibv_sge list[MOST_PARTS];
	for (int i = 0; i < count; i++)
		list[i] = (struct ibv_sge){.addr = addresses[i], .length = lengths[i], .lkey = key};
	if (count == 1)
		ibv_wr_set_sge(qp, key, addresses[0], lengths[0]);
	else
		ibv_wr_set_sge_list(qp, count, list);
}

// The buffers follow each other; a single one is given without a list.
void oracle_batch_inline(struct ibv_qp_ex *qp, uint8_t *bytes, const uint32_t *lengths, int count)
{
	struct ibv_data_buf list[MOST_PARTS];
	for (int i = 0; i < count; i++) {
		list[i] = (struct ibv_data_buf){.addr = bytes, .length = lengths[i]};
		bytes += lengths[i];
	}
	if (count == 1)
		ibv_wr_set_inline_data(qp, list[0].addr, list[0].length);
	else
		ibv_wr_set_inline_data_list(qp, count, list);
}
