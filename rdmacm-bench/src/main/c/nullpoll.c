// SPDX-License-Identifier: Apache-2.0
// The completion side of the null provider: ibv_poll_cq, and polls in place.
#include "nullpath.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// By number. Numbers are given in a row and not given again.
static struct null_qp **pairs;
static uint32_t pairs_size;

int null_add_qp(struct null_qp *qp)
{
	uint32_t number = qp->ex.qp_base.qp_num;
	if (number >= pairs_size) {
		uint32_t size = 2 * number;
		struct null_qp **larger = realloc(pairs, size * sizeof(*larger));
		if (!larger)
			return 0;
		memset(larger + pairs_size, 0, (size - pairs_size) * sizeof(*larger));
		pairs = larger;
		pairs_size = size;
	}
	pairs[number] = qp;
	return 1;
}

void null_remove_qp(struct null_qp *qp)
{
	struct null_cq *cq = (struct null_cq *)qp->ex.qp_base.send_cq;
	if (qp->ex.qp_base.qp_num < pairs_size)
		pairs[qp->ex.qp_base.qp_num] = NULL;
	if (cq && cq->last == qp)
		cq->last = NULL;
}

static const struct null_cqe *next_entry(struct null_cq *cq)
{
	const struct null_cqe *cqe = &cq->ring[cq->consumed & cq->mask];
	if (__atomic_load_n(&cqe->owner, __ATOMIC_ACQUIRE) != cq->consumed / (cq->mask + 1) + 1)
		return NULL;
	cq->consumed++;
	return cqe;
}

// Whose completion it is; its request, and those before it, are done.
static struct null_qp *retire(struct null_cq *cq, const struct null_cqe *cqe, uint64_t *id)
{
	struct null_qp *qp = cq->last;
	if (!qp || qp->ex.qp_base.qp_num != cqe->qp_num)
		cq->last = qp = pairs[cqe->qp_num];
	qp->completed = cqe->wqe_index + 1;
	*id = qp->ids[cqe->wqe_index & qp->mask];
	return qp;
}

static enum ibv_wc_opcode opcode_of(const struct null_cqe *cqe)
{
	switch (cqe->opcode_status >> 8) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return IBV_WC_RDMA_WRITE;
	case IBV_WR_RDMA_READ:
		return IBV_WC_RDMA_READ;
	default:
		return IBV_WC_SEND;
	}
}

static int poll_cq(struct ibv_cq *polled, int entries, struct ibv_wc *wc)
{
	struct null_cq *cq = (struct null_cq *)polled;
	int taken = 0;
	pthread_spin_lock(&cq->lock);
	for (; taken < entries; taken++, wc++) {
		const struct null_cqe *cqe = next_entry(cq);
		if (!cqe)
			break;
		retire(cq, cqe, &wc->wr_id);
		wc->status = cqe->opcode_status & 0xff;
		wc->opcode = opcode_of(cqe);
		wc->vendor_err = 0;
		wc->byte_len = cqe->byte_len;
		wc->qp_num = cqe->qp_num;
		wc->wc_flags = 0;
	}
	if (taken)
		cq->doorbell = cq->consumed;
	pthread_spin_unlock(&cq->lock);
	return taken;
}

// ibv_start_poll and the like

static int show(struct null_cq *cq)
{
	cq->current = next_entry(cq);
	if (!cq->current)
		return ENOENT;
	retire(cq, cq->current, &cq->ex.wr_id);
	cq->ex.status = cq->current->opcode_status & 0xff;
	return 0;
}

static int start_poll(struct ibv_cq_ex *started, struct ibv_poll_cq_attr *attr)
{
	struct null_cq *cq = (struct null_cq *)started;
	(void)attr;
	pthread_spin_lock(&cq->lock);
	int error = show(cq);
	if (error)
		pthread_spin_unlock(&cq->lock);
	return error;
}

static int next_poll(struct ibv_cq_ex *cq)
{
	return show((struct null_cq *)cq);
}

static void end_poll(struct ibv_cq_ex *ended)
{
	struct null_cq *cq = (struct null_cq *)ended;
	cq->doorbell = cq->consumed;
	pthread_spin_unlock(&cq->lock);
}

static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *cq)
{
	return opcode_of(((struct null_cq *)cq)->current);
}

static uint32_t read_vendor_err(struct ibv_cq_ex *cq)
{
	(void)cq;
	return 0;
}

static uint32_t read_byte_len(struct ibv_cq_ex *cq)
{
	return ((struct null_cq *)cq)->current->byte_len;
}

static uint32_t read_qp_num(struct ibv_cq_ex *cq)
{
	return ((struct null_cq *)cq)->current->qp_num;
}

static unsigned int read_wc_flags(struct ibv_cq_ex *cq)
{
	(void)cq;
	return 0;
}

static uint64_t read_completion_ts(struct ibv_cq_ex *cq)
{
	return ((struct null_cq *)cq)->current->timestamp;
}

void null_fill_cq(struct null_cq *cq)
{
	cq->ex.start_poll = start_poll;
	cq->ex.next_poll = next_poll;
	cq->ex.end_poll = end_poll;
	cq->ex.read_opcode = read_opcode;
	cq->ex.read_vendor_err = read_vendor_err;
	cq->ex.read_byte_len = read_byte_len;
	cq->ex.read_qp_num = read_qp_num;
	cq->ex.read_wc_flags = read_wc_flags;
	cq->ex.read_completion_ts = read_completion_ts;
}

static struct ibv_cq_ex *create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
	return (struct ibv_cq_ex *)null_create_cq(context, attr->cqe);
}

void null_fill_context(struct verbs_context *context)
{
	context->context.ops.poll_cq = poll_cq;
	context->context.ops.post_send = null_post_send;
	context->create_cq_ex = create_cq_ex;
	context->create_qp_ex = null_create_qp_ex;
}
