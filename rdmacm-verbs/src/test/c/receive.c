// SPDX-License-Identifier: Apache-2.0
// Shared receive queues and XRC domains: what libibverbs exports of them, and the functions of the driver for those who
// ask for them (fake_equip_receive), in place of the ones that only tell their names.
#include "fakeverbs.h"

#include <errno.h>
#include <stdlib.h>

struct fake_srq {
	struct ibv_srq srq;
	struct ibv_srq_attr attr;
	struct ibv_cq *cq;
	struct ibv_xrcd *xrcd;
	uint32_t number;
	int users;
};

struct fake_xrcd {
	struct ibv_xrcd xrcd;
	int users;
};

static int *users_of_xrcd(struct ibv_xrcd *xrcd)
{
	return &((struct fake_xrcd *)xrcd)->users;
}

int *fake_users_of_srq(struct ibv_srq *srq)
{
	return &((struct fake_srq *)srq)->users;
}

int *fake_users_of_xrcd(struct ibv_xrcd *xrcd)
{
	return users_of_xrcd(xrcd);
}

static struct ibv_srq *make_queue(struct ibv_pd *pd, struct ibv_srq_attr *attr)
{
	struct fake_srq *srq = fake_make(FAKE_SRQ, sizeof(*srq), fake_users_of_pd(pd));
	srq->srq.context = pd->context;
	srq->srq.pd = pd;
	srq->number = 0x00a00000u + fake_next_number();
	// A device gives more than it is asked for.
	attr->max_wr *= 2;
	attr->max_sge += 1;
	srq->attr = *attr;
	return &srq->srq;
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init)
{
	int error = CALLED_WITH(init, sizeof(*init), FAKE_BITS(pd), FAKE_BITS(init));
	if (error) {
		errno = error;
		return NULL;
	}
	return make_queue(pd, &init->attr);
}

int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask)
{
	struct fake_srq *fake = (struct fake_srq *)srq;
	int error = CALLED_WITH(attr, sizeof(*attr), FAKE_BITS(srq), FAKE_BITS(attr), FAKE_BITS(mask));
	if (!error && (mask & IBV_SRQ_MAX_WR))
		fake->attr.max_wr = attr->max_wr;
	if (!error && (mask & IBV_SRQ_LIMIT))
		fake->attr.srq_limit = attr->srq_limit;
	return error;
}

int ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
	int error = CALLED(FAKE_BITS(srq), FAKE_BITS(attr));
	if (!error)
		*attr = ((struct fake_srq *)srq)->attr;
	return error;
}

int ibv_destroy_srq(struct ibv_srq *srq)
{
	struct fake_srq *fake = (struct fake_srq *)srq;
	int error = CALLED(FAKE_BITS(srq));
	if (error || fake->users)
		return error ? error : EBUSY;
	if (fake->cq)
		fake_add(fake_users_of_cq(fake->cq), -1);
	if (fake->xrcd)
		fake_add(users_of_xrcd(fake->xrcd), -1);
	return fake_destroy(FAKE_SRQ, srq, fake_users_of_pd(srq->pd));
}

static struct ibv_srq *create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *init)
{
	int error = CALLED_WITH(init, sizeof(*init), FAKE_BITS(context), FAKE_BITS(init));
	if (error) {
		errno = error;
		return NULL;
	}
	struct fake_srq *srq = (struct fake_srq *)make_queue(init->pd, &init->attr);
	if (init->comp_mask & IBV_SRQ_INIT_ATTR_CQ) {
		srq->cq = init->cq;
		fake_add(fake_users_of_cq(srq->cq), 1);
	}
	if (init->comp_mask & IBV_SRQ_INIT_ATTR_XRCD) {
		srq->xrcd = init->xrcd;
		fake_add(users_of_xrcd(srq->xrcd), 1);
	}
	return &srq->srq;
}

static int get_srq_num(struct ibv_srq *srq, uint32_t *number)
{
	int error = CALLED(FAKE_BITS(srq), FAKE_BITS(number));
	if (!error)
		*number = ((struct fake_srq *)srq)->number;
	return error;
}

static int post_srq_ops(struct ibv_srq *srq, struct ibv_ops_wr *op, struct ibv_ops_wr **bad)
{
	int error = CALLED(FAKE_BITS(srq), FAKE_BITS(op), FAKE_BITS(bad));
	for (; op && !error; op = op->next) {
		fake_append(op, sizeof(*op));
		fake_append(op->tm.add.sg_list, op->tm.add.num_sge * sizeof(*op->tm.add.sg_list));
		if (op->opcode == IBV_WR_TAG_ADD)
			op->tm.handle = 0x90000000u + (uint32_t)op->tm.add.tag;
		if (op->next)
			error = fake_called("next_op", (uint64_t[]){FAKE_BITS(op->next)}, 1, NULL, 0);
	}
	if (error)
		fake_refuse(bad, op);
	return error;
}

static struct ibv_xrcd *open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *init)
{
	int error = CALLED_WITH(init, sizeof(*init), FAKE_BITS(context), FAKE_BITS(init));
	if (error) {
		errno = error;
		return NULL;
	}
	struct fake_xrcd *xrcd = fake_make(FAKE_XRCD, sizeof(*xrcd), fake_users_of_context(context));
	xrcd->xrcd.context = context;
	return &xrcd->xrcd;
}

static int close_xrcd(struct ibv_xrcd *xrcd)
{
	int error = CALLED(FAKE_BITS(xrcd));
	if (error || *users_of_xrcd(xrcd))
		return error ? error : EBUSY;
	return fake_destroy(FAKE_XRCD, xrcd, fake_users_of_context(xrcd->context));
}

void fake_equip_receive(struct ibv_context *context)
{
	struct verbs_context *extended = verbs_get_ctx(context);
	extended->create_srq_ex = create_srq_ex;
	extended->get_srq_num = get_srq_num;
	extended->post_srq_ops = post_srq_ops;
	extended->open_xrcd = open_xrcd;
	extended->close_xrcd = close_xrcd;
}

// What a C program fills in.
void oracle_srq(struct ibv_srq_init_attr_ex *init, const uint32_t *sizes, int type, struct ibv_pd *pd,
		struct ibv_xrcd *xrcd, struct ibv_cq *cq)
{
	*init = (struct ibv_srq_init_attr_ex){
		.attr = {.max_wr = sizes[0], .max_sge = sizes[1], .srq_limit = sizes[2]},
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | (xrcd ? IBV_SRQ_INIT_ATTR_XRCD : 0) |
			     (cq ? IBV_SRQ_INIT_ATTR_CQ : 0) | (type == IBV_SRQT_TM ? IBV_SRQ_INIT_ATTR_TM : 0),
		.srq_type = type,
		.pd = pd,
		.xrcd = xrcd,
		.cq = cq,
		.tm_cap = {.max_num_tags = sizes[3], .max_ops = sizes[4]},
	};
}

// Values: wr_id, flags, unexpected_cnt, recv_wr_id, tag, mask, handle.
void oracle_tag(struct ibv_ops_wr *op, int opcode, const uint64_t *values, struct ibv_sge *list, int entries)
{
	*op = (struct ibv_ops_wr){
		.wr_id = values[0],
		.opcode = opcode,
		.flags = values[1],
		.tm = {
			.unexpected_cnt = values[2],
			.handle = values[6],
			.add = {
				.recv_wr_id = values[3],
				.sg_list = list,
				.num_sge = entries,
				.tag = values[4],
				.mask = values[5],
			},
		},
	};
}
