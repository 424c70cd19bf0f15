// SPDX-License-Identifier: Apache-2.0
// Work queues, their tables and counters, for those who ask for them (fake_equip_work_queues), and their attributes as a
// C program fills them in.
#include "fakeverbs.h"

#include <errno.h>
#include <string.h>

struct fake_wq {
	struct ibv_wq wq;
	int users; // tables
};

static void *failed(int error)
{
	errno = error;
	return NULL;
}

static int post_wq_recv(struct ibv_wq *wq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	int error = CALLED_WITH(wr, sizeof(*wr), FAKE_BITS(wq), FAKE_BITS(wr));
	fake_touch(wq);
	if (error)
		fake_refuse(bad, wr);
	return error;
}

// What a driver leaves in members that are not its own.
static struct ibv_wq *create_wq(struct ibv_context *context, struct ibv_wq_init_attr *attr)
{
	int error = CALLED_WITH(attr, sizeof(*attr), FAKE_BITS(context));
	if (error)
		return failed(error);
	struct fake_wq *wq = fake_make(FAKE_WQ, sizeof(*wq), fake_users_of_pd(attr->pd));
	memset(&wq->wq, 0xa5, sizeof(wq->wq));
	wq->wq.context = context;
	wq->wq.pd = attr->pd;
	wq->wq.cq = attr->cq;
	wq->wq.wq_num = fake_next_number();
	wq->wq.state = IBV_WQS_RESET;
	wq->wq.post_recv = post_wq_recv;
	fake_add(fake_users_of_cq(attr->cq), 1);
	return &wq->wq;
}

static int modify_wq(struct ibv_wq *wq, struct ibv_wq_attr *attr)
{
	int error = CALLED_WITH(attr, sizeof(*attr), FAKE_BITS(wq));
	if (!error && (attr->attr_mask & IBV_WQ_ATTR_STATE))
		wq->state = attr->wq_state;
	return error;
}

static int destroy_wq(struct ibv_wq *wq)
{
	int error = CALLED(FAKE_BITS(wq));
	if (error || wq->events_completed || ((struct fake_wq *)wq)->users)
		return error ? error : EBUSY;
	fake_add(fake_users_of_cq(wq->cq), -1);
	return fake_destroy(FAKE_WQ, wq, fake_users_of_pd(wq->pd));
}

static struct ibv_rwq_ind_table *create_rwq_ind_table(struct ibv_context *context,
						      struct ibv_rwq_ind_table_init_attr *attr)
{
	int error = CALLED_WITH(attr->ind_tbl, sizeof(*attr->ind_tbl) << attr->log_ind_tbl_size, FAKE_BITS(context),
				attr->log_ind_tbl_size, attr->comp_mask);
	if (error)
		return failed(error);
	struct ibv_rwq_ind_table *table = fake_make(FAKE_TABLE, sizeof(*table), fake_users_of_context(context));
	table->context = context;
	table->ind_tbl_num = fake_next_number();
	return table;
}

static int destroy_rwq_ind_table(struct ibv_rwq_ind_table *table)
{
	int error = CALLED(FAKE_BITS(table));
	return error ? error : fake_destroy(FAKE_TABLE, table, fake_users_of_context(table->context));
}

static struct ibv_counters *create_counters(struct ibv_context *context, struct ibv_counters_init_attr *attr)
{
	int error = CALLED_WITH(attr, sizeof(*attr), FAKE_BITS(context));
	if (error)
		return failed(error);
	struct ibv_counters *counters = fake_make(FAKE_COUNTERS, sizeof(*counters), fake_users_of_context(context));
	counters->context = context;
	return counters;
}

// Each value is its index, with the highest bit set.
static int read_counters(struct ibv_counters *counters, uint64_t *values, uint32_t count, uint32_t flags)
{
	int error = CALLED(FAKE_BITS(counters), count, flags);
	for (uint32_t i = 0; !error && i < count; i++)
		values[i] = 0x8000000000000000u | i;
	return error;
}

static int destroy_counters(struct ibv_counters *counters)
{
	int error = CALLED(FAKE_BITS(counters));
	return error ? error : fake_destroy(FAKE_COUNTERS, counters, fake_users_of_context(counters->context));
}

void fake_equip_work_queues(struct ibv_context *context)
{
	struct verbs_context *extended = verbs_get_ctx(context);
	extended->create_wq = create_wq;
	extended->modify_wq = modify_wq;
	extended->destroy_wq = destroy_wq;
	extended->create_rwq_ind_table = create_rwq_ind_table;
	extended->destroy_rwq_ind_table = destroy_rwq_ind_table;
	extended->create_counters = create_counters;
	extended->read_counters = read_counters;
	extended->destroy_counters = destroy_counters;
}

void oracle_wq_init(struct ibv_wq_init_attr *attr, uint32_t max_wr, uint32_t max_sge, struct ibv_pd *pd,
		    struct ibv_cq *cq, uint32_t flags)
{
	*attr = (struct ibv_wq_init_attr){
		.wq_type = IBV_WQT_RQ,
		.max_wr = max_wr,
		.max_sge = max_sge,
		.pd = pd,
		.cq = cq,
		.comp_mask = flags ? IBV_WQ_INIT_ATTR_FLAGS : 0,
		.create_flags = flags,
	};
}

void oracle_wq_attr(struct ibv_wq_attr *attr, uint32_t mask, uint32_t state, uint32_t flags, uint32_t flags_mask)
{
	*attr = (struct ibv_wq_attr){
		.attr_mask = mask,
		.wq_state = state,
		.flags = flags,
		.flags_mask = flags_mask,
	};
}
