// SPDX-License-Identifier: Apache-2.0
// The send side of the null provider: requests of ibv_post_send and of ibv_wr_*.
#include "nullpath.h"

#include <errno.h>
#include <string.h>

// What a device would do by itself, on the other side of the bus: each signaled request has a completion.
static void execute(struct null_qp *qp)
{
	struct null_cq *cq = (struct null_cq *)qp->ex.qp_base.send_cq;
	for (; qp->executed != qp->doorbell; qp->executed++) {
		const struct null_wqe *wqe = &qp->device[qp->executed & qp->mask];
		if (!(wqe->flags_size >> 16 & IBV_SEND_SIGNALED))
			continue;
		uint32_t index = cq->produced++;
		struct null_cqe *cqe = &cq->ring[index & cq->mask];
		cqe->qp_num = wqe->qp_num;
		cqe->wqe_index = qp->executed;
		cqe->byte_len = 0;
		cqe->timestamp = index;
		cqe->opcode_status = (wqe->opcode_index & 0xff) << 8;
		__atomic_store_n(&cqe->owner, index / (cq->mask + 1) + 1, __ATOMIC_RELEASE);
	}
}

static void copy_entry(struct null_wqe *to, const struct null_wqe *from)
{
	volatile uint64_t *target = (volatile uint64_t *)to;
	const uint64_t *source = (const uint64_t *)from;
	for (size_t i = 0; i < NULL_ENTRY / sizeof(*source); i++)
		target[i] = source[i];
}

static void ring_doorbell(struct null_qp *qp)
{
	for (uint32_t index = qp->doorbell; index != qp->posted; index++)
		copy_entry(&qp->device[index & qp->mask], &qp->ring[index & qp->mask]);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	qp->doorbell = qp->posted;
	execute(qp);
}

static uint32_t copy_inline(struct null_wqe *wqe, const struct ibv_sge *sges, int count, uint32_t max)
{
	uint32_t size = 0;
	for (int i = 0; i < count; i++) {
		if (sges[i].length > max - size)
			return UINT32_MAX;
		memcpy(wqe->data + size, (const void *)(uintptr_t)sges[i].addr, sges[i].length);
		size += sges[i].length;
	}
	return size;
}

static int fill(struct null_qp *qp, uint32_t index, const struct ibv_send_wr *wr)
{
	struct null_wqe *wqe = &qp->ring[index & qp->mask];
	uint32_t flags = wr->send_flags | (qp->signal_all ? IBV_SEND_SIGNALED : 0);
	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > qp->max_sge)
		return EINVAL;
	wqe->opcode_index = (index & 0xffff) << 8 | wr->opcode;
	wqe->flags_size = flags << 16 | wr->num_sge;
	wqe->qp_num = qp->ex.qp_base.qp_num;
	wqe->inline_size = 0;
	switch (wr->opcode) {
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		wqe->imm_data = wr->imm_data;
		// fall through
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_READ:
		wqe->remote_addr = wr->wr.rdma.remote_addr;
		wqe->rkey = wr->wr.rdma.rkey;
		break;
	case IBV_WR_SEND_WITH_IMM:
		wqe->imm_data = wr->imm_data;
		break;
	case IBV_WR_SEND:
		break;
	default:
		return EINVAL;
	}
	if (flags & IBV_SEND_INLINE) {
		wqe->inline_size = copy_inline(wqe, wr->sg_list, wr->num_sge, qp->max_inline);
		if (wqe->inline_size == UINT32_MAX)
			return EINVAL;
	} else {
		for (int i = 0; i < wr->num_sge; i++)
			wqe->sges[i] = wr->sg_list[i];
	}
	qp->ids[index & qp->mask] = wr->wr_id;
	return 0;
}

int null_post_send(struct ibv_qp *posted, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct null_qp *qp = (struct null_qp *)posted;
	int error = 0;
	pthread_spin_lock(&qp->lock);
	uint32_t index = qp->posted;
	for (; wr; wr = wr->next) {
		error = index - qp->completed > qp->mask ? ENOMEM : fill(qp, index, wr);
		if (error) {
			*bad = wr;
			break;
		}
		index++;
	}
	if (index != qp->posted) {
		qp->posted = index;
		ring_doorbell(qp);
	}
	pthread_spin_unlock(&qp->lock);
	return error;
}

// ibv_wr_*

static void wr_start(struct ibv_qp_ex *started)
{
	struct null_qp *qp = (struct null_qp *)started;
	pthread_spin_lock(&qp->lock);
	qp->begun = qp->posted;
	qp->error = 0;
}

static struct null_wqe *begin(struct ibv_qp_ex *of, enum ibv_wr_opcode opcode)
{
	struct null_qp *qp = (struct null_qp *)of;
	if (qp->begun - qp->completed > qp->mask) {
		qp->error = ENOMEM;
		return NULL;
	}
	uint32_t index = qp->begun++;
	struct null_wqe *wqe = &qp->ring[index & qp->mask];
	wqe->opcode_index = (index & 0xffff) << 8 | opcode;
	wqe->flags_size = (of->wr_flags | (qp->signal_all ? IBV_SEND_SIGNALED : 0)) << 16;
	wqe->qp_num = qp->ex.qp_base.qp_num;
	wqe->inline_size = 0;
	qp->ids[index & qp->mask] = of->wr_id;
	qp->current = wqe;
	return wqe;
}

static void wr_send(struct ibv_qp_ex *qp)
{
	begin(qp, IBV_WR_SEND);
}

static void wr_rdma_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
	struct null_wqe *wqe = begin(qp, IBV_WR_RDMA_WRITE);
	if (wqe) {
		wqe->remote_addr = remote_addr;
		wqe->rkey = rkey;
	}
}

static void wr_set_sge(struct ibv_qp_ex *of, uint32_t lkey, uint64_t addr, uint32_t length)
{
	struct null_qp *qp = (struct null_qp *)of;
	if (qp->error)
		return;
	qp->current->flags_size |= 1;
	qp->current->sges[0] = (struct ibv_sge){.addr = addr, .length = length, .lkey = lkey};
}

static void wr_set_sge_list(struct ibv_qp_ex *of, size_t count, const struct ibv_sge *list)
{
	struct null_qp *qp = (struct null_qp *)of;
	if (qp->error)
		return;
	if (count > qp->max_sge) {
		qp->error = EINVAL;
		return;
	}
	qp->current->flags_size |= count;
	for (size_t i = 0; i < count; i++)
		qp->current->sges[i] = list[i];
}

static void wr_set_inline_data(struct ibv_qp_ex *of, void *addr, size_t length)
{
	struct null_qp *qp = (struct null_qp *)of;
	if (qp->error)
		return;
	if (length > qp->max_inline) {
		qp->error = EINVAL;
		return;
	}
	memcpy(qp->current->data, addr, length);
	qp->current->inline_size = length;
}

static int wr_complete(struct ibv_qp_ex *completed)
{
	struct null_qp *qp = (struct null_qp *)completed;
	int error = qp->error;
	if (!error && qp->begun != qp->posted) {
		qp->posted = qp->begun;
		ring_doorbell(qp);
	}
	pthread_spin_unlock(&qp->lock);
	return error;
}

static void wr_abort(struct ibv_qp_ex *aborted)
{
	pthread_spin_unlock(&((struct null_qp *)aborted)->lock);
}

void null_fill_qp(struct null_qp *qp)
{
	qp->ex.wr_start = wr_start;
	qp->ex.wr_send = wr_send;
	qp->ex.wr_rdma_write = wr_rdma_write;
	qp->ex.wr_set_sge = wr_set_sge;
	qp->ex.wr_set_sge_list = wr_set_sge_list;
	qp->ex.wr_set_inline_data = wr_set_inline_data;
	qp->ex.wr_complete = wr_complete;
	qp->ex.wr_abort = wr_abort;
}
