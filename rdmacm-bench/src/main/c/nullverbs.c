// SPDX-License-Identifier: Apache-2.0
// What libibverbs exports, as far as the benchmarks need it.
#include "nullverbs.h"
#include "nullpath.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#undef ibv_reg_mr

static struct ibv_device device = {
	.node_type = IBV_NODE_CA,
	.transport_type = IBV_TRANSPORT_IB,
	.name = "null0",
	.dev_name = "uverbsnull0",
};
static uint32_t last_key = 0x100;

static void *zeroed(size_t size)
{
	size_t rounded = (size + NULL_ENTRY - 1) / NULL_ENTRY * NULL_ENTRY;
	void *memory = aligned_alloc(NULL_ENTRY, rounded);
	if (memory)
		memset(memory, 0, rounded);
	else
		errno = ENOMEM;
	return memory;
}

static uint32_t power_of_two(uint32_t atleast)
{
	uint32_t size = 1;
	while (size < atleast)
		size *= 2;
	return size;
}

struct ibv_device **ibv_get_device_list(int *count)
{
	struct ibv_device **list = zeroed(2 * sizeof(*list));
	if (!list)
		return NULL;
	list[0] = &device;
	if (count)
		*count = 1;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

const char *ibv_get_device_name(struct ibv_device *of)
{
	return of->name;
}

__be64 ibv_get_device_guid(struct ibv_device *of)
{
	(void)of;
	return 0;
}

struct ibv_context *ibv_open_device(struct ibv_device *of)
{
	struct verbs_context *extended = zeroed(sizeof(*extended));
	if (!extended)
		return NULL;
	extended->sz = sizeof(*extended);
	extended->context.device = of;
	extended->context.num_comp_vectors = 1;
	extended->context.async_fd = -1;
	extended->context.cmd_fd = -1;
	extended->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	null_fill_context(extended);
	return &extended->context;
}

int ibv_close_device(struct ibv_context *context)
{
	free(verbs_get_ctx(context));
	return 0;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct ibv_pd *pd = zeroed(sizeof(*pd));
	if (pd)
		pd->context = context;
	return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	free(pd);
	return 0;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	(void)access;
	struct ibv_mr *mr = zeroed(sizeof(*mr));
	if (!mr)
		return NULL;
	mr->context = pd->context;
	mr->pd = pd;
	mr->addr = addr;
	mr->length = length;
	mr->lkey = mr->rkey = ++last_key;
	return mr;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access)
{
	(void)iova;
	return ibv_reg_mr(pd, addr, length, access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	free(mr);
	return 0;
}

struct null_cq *null_create_cq(struct ibv_context *context, uint32_t entries)
{
	uint32_t size = power_of_two(entries);
	struct null_cq *cq = zeroed(sizeof(*cq));
	struct null_cqe *ring = zeroed(size * sizeof(*ring));
	if (!cq || !ring) {
		free(cq);
		free(ring);
		return NULL;
	}
	cq->ex.context = context;
	cq->ex.cqe = size;
	cq->mask = size - 1;
	cq->ring = ring;
	pthread_spin_init(&cq->lock, PTHREAD_PROCESS_PRIVATE);
	null_fill_cq(cq);
	return cq;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int entries, void *cq_context,
			     struct ibv_comp_channel *channel, int vector)
{
	(void)vector;
	struct null_cq *cq = null_create_cq(context, entries);
	if (!cq)
		return NULL;
	cq->ex.cq_context = cq_context;
	cq->ex.channel = channel;
	return ibv_cq_ex_to_cq(&cq->ex);
}

int ibv_destroy_cq(struct ibv_cq *destroyed)
{
	struct null_cq *cq = (struct null_cq *)destroyed;
	pthread_spin_destroy(&cq->lock);
	free(cq->ring);
	free(cq);
	return 0;
}

static struct ibv_qp *make_qp(struct ibv_pd *pd, struct ibv_cq *send_cq, struct ibv_cq *recv_cq,
			      enum ibv_qp_type type, int signal_all, struct ibv_qp_cap *cap)
{
	static uint32_t last_number = 0x10;
	if (cap->max_send_sge > NULL_MAX_SGE || cap->max_inline_data > NULL_MAX_INLINE) {
		errno = EINVAL;
		return NULL;
	}
	uint32_t size = power_of_two(cap->max_send_wr);
	struct null_qp *qp = zeroed(sizeof(*qp));
	struct null_wqe *ring = zeroed(size * sizeof(*ring));
	struct null_wqe *copy = zeroed(size * sizeof(*copy));
	uint64_t *ids = zeroed(size * sizeof(*ids));
	if (!qp || !ring || !copy || !ids) {
		free(qp);
		free(ring);
		free(copy);
		free(ids);
		return NULL;
	}
	qp->ex.qp_base.context = pd->context;
	qp->ex.qp_base.pd = pd;
	qp->ex.qp_base.send_cq = send_cq;
	qp->ex.qp_base.recv_cq = recv_cq;
	qp->ex.qp_base.qp_type = type;
	qp->ex.qp_base.qp_num = ++last_number;
	qp->ex.qp_base.state = IBV_QPS_RTS; // there is nobody to connect it with
	qp->mask = size - 1;
	qp->signal_all = signal_all;
	qp->max_sge = cap->max_send_sge;
	qp->max_inline = cap->max_inline_data;
	qp->ring = ring;
	qp->device = copy;
	qp->ids = ids;
	pthread_spin_init(&qp->lock, PTHREAD_PROCESS_PRIVATE);
	null_fill_qp(qp);
	cap->max_send_wr = size;
	if (!null_add_qp(qp)) {
		ibv_destroy_qp(&qp->ex.qp_base);
		errno = ENOMEM;
		return NULL;
	}
	return &qp->ex.qp_base;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	return make_qp(pd, init->send_cq, init->recv_cq, init->qp_type, init->sq_sig_all, &init->cap);
}

struct ibv_qp *null_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *init)
{
	(void)context;
	return make_qp(init->pd, init->send_cq, init->recv_cq, init->qp_type, init->sq_sig_all, &init->cap);
}

int ibv_destroy_qp(struct ibv_qp *destroyed)
{
	struct null_qp *qp = (struct null_qp *)destroyed;
	null_remove_qp(qp);
	pthread_spin_destroy(&qp->lock);
	free(qp->ring);
	free(qp->device);
	free(qp->ids);
	free(qp);
	return 0;
}

struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	return (struct ibv_qp_ex *)qp;
}
