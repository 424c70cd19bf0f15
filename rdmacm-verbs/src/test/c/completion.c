// SPDX-License-Identifier: Apache-2.0
// Completion queues: resize and moderation, and for those who ask for them (fake_equip_completion) extended ones that
// are polled in place, as hardware drivers do it: a poll under way keeps all others out until it is ended.
#include "fakeverbs.h"

#include <errno.h>
#include <stdlib.h>

enum { BEHIND_LAST = 2 };

int ibv_resize_cq(struct ibv_cq *cq, int cqe)
{
	int error = CALLED(FAKE_BITS(cq), FAKE_BITS(cqe));
	if (!error)
		cq->cqe = cqe + 1;
	return error;
}

static int modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr)
{
	return CALLED_WITH(attr, sizeof(*attr), FAKE_BITS(cq), FAKE_BITS(attr));
}

// While a poll is under way, head is the current completion.
static const struct ibv_wc *shown(struct ibv_cq_ex *cq)
{
	struct fake_cq *fake = (struct fake_cq *)cq;
	return &fake->queue[fake->head % FAKE_QUEUE];
}

static int show(struct ibv_cq_ex *cq)
{
	struct fake_cq *fake = (struct fake_cq *)cq;
	if (__atomic_load_n(&fake->tail, __ATOMIC_SEQ_CST) == fake->head)
		return ENOENT;
	cq->wr_id = shown(cq)->wr_id;
	cq->status = shown(cq)->status;
	return 0;
}

static void consume(struct ibv_cq_ex *cq)
{
	struct fake_cq *fake = (struct fake_cq *)cq;
	if (__atomic_load_n(&fake->tail, __ATOMIC_SEQ_CST) != fake->head)
		__atomic_store_n(&fake->head, fake->head + 1, __ATOMIC_SEQ_CST);
}

static int start_poll(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
	struct fake_cq *fake = (struct fake_cq *)cq;
	int error = CALLED_WITH(attr, sizeof(*attr), FAKE_BITS(cq));
	if (error)
		return error;
	if (fake->polling)
		abort(); // the lock of a real driver: this would hang
	error = show(cq);
	fake->polling = error == 0;
	return error;
}

static int next_poll(struct ibv_cq_ex *cq)
{
	int error = CALLED(FAKE_BITS(cq));
	if (!((struct fake_cq *)cq)->polling)
		abort();
	if (error)
		return error;
	consume(cq);
	error = show(cq);
	if (error)
		((struct fake_cq *)cq)->polling = BEHIND_LAST;
	return error;
}

static void end_poll(struct ibv_cq_ex *cq)
{
	CALLED(FAKE_BITS(cq));
	if (!((struct fake_cq *)cq)->polling)
		abort();
	if (((struct fake_cq *)cq)->polling != BEHIND_LAST)
		consume(cq);
	((struct fake_cq *)cq)->polling = 0;
}

#define READER(type, name, value)                                                                                     \
	static type name(struct ibv_cq_ex *cq)                                                                            \
	{                                                                                                                 \
		CALLED(FAKE_BITS(cq));                                                                                        \
		return value;                                                                                                 \
	}
READER(enum ibv_wc_opcode, read_opcode, shown(cq)->opcode)
READER(uint32_t, read_vendor_err, shown(cq)->vendor_err)
READER(uint32_t, read_byte_len, shown(cq)->byte_len)
READER(__be32, read_imm_data, shown(cq)->imm_data)
READER(uint32_t, read_qp_num, shown(cq)->qp_num)
READER(uint32_t, read_src_qp, shown(cq)->src_qp)
READER(unsigned int, read_wc_flags, shown(cq)->wc_flags)
READER(uint32_t, read_slid, shown(cq)->slid)
READER(uint8_t, read_sl, shown(cq)->sl)
READER(uint8_t, read_dlid_path_bits, shown(cq)->dlid_path_bits)
// What an ibv_wc has no place for.
READER(uint64_t, read_completion_ts, 0x8000000000000000u | shown(cq)->wr_id)
READER(uint16_t, read_cvlan, 0x8000 | shown(cq)->wr_id)
READER(uint32_t, read_flow_tag, 0x800000 | shown(cq)->wr_id)
READER(uint64_t, read_completion_wallclock_ns, 1000000000u * shown(cq)->wr_id)

static void read_tm_info(struct ibv_cq_ex *cq, struct ibv_wc_tm_info *info)
{
	CALLED(FAKE_BITS(cq));
	info->tag = 0x9000000000000000u | shown(cq)->wr_id;
	info->priv = 0x90000000u | shown(cq)->wr_id;
}

static struct ibv_cq_ex *create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
	int error = CALLED_WITH(attr, sizeof(*attr), FAKE_BITS(context));
	if (error) {
		errno = error;
		return NULL;
	}
	struct fake_cq *cq = fake_make(FAKE_CQ, sizeof(*cq), fake_users_of_context(context));
	cq->ex.context = context;
	cq->ex.channel = attr->channel;
	cq->ex.cqe = attr->cqe + 1;
	if (attr->channel)
		fake_add(&attr->channel->refcnt, 1);
	cq->ex.start_poll = start_poll;
	cq->ex.next_poll = next_poll;
	cq->ex.end_poll = end_poll;
	cq->ex.read_opcode = read_opcode;
	cq->ex.read_vendor_err = read_vendor_err;
	cq->ex.read_byte_len = read_byte_len;
	cq->ex.read_imm_data = read_imm_data;
	cq->ex.read_qp_num = read_qp_num;
	cq->ex.read_src_qp = read_src_qp;
	cq->ex.read_wc_flags = read_wc_flags;
	cq->ex.read_slid = read_slid;
	cq->ex.read_sl = read_sl;
	cq->ex.read_dlid_path_bits = read_dlid_path_bits;
	cq->ex.read_completion_ts = read_completion_ts;
	cq->ex.read_cvlan = read_cvlan;
	cq->ex.read_flow_tag = read_flow_tag;
	cq->ex.read_tm_info = read_tm_info;
	cq->ex.read_completion_wallclock_ns = read_completion_wallclock_ns;
	return &cq->ex;
}

void fake_equip_completion(struct ibv_context *context)
{
	struct verbs_context *extended = verbs_get_ctx(context);
	extended->create_cq_ex = create_cq_ex;
	extended->modify_cq = modify_cq;
}

void oracle_cq_init(struct ibv_cq_init_attr_ex *attr, uint32_t cqe, struct ibv_comp_channel *channel, uint32_t vector,
		    uint32_t flags, struct ibv_pd *parent)
{
	*attr = (struct ibv_cq_init_attr_ex){
		.cqe = cqe,
		.channel = channel,
		.comp_vector = vector,
		.wc_flags = IBV_WC_STANDARD_FLAGS,
		.comp_mask = (flags ? IBV_CQ_INIT_ATTR_MASK_FLAGS : 0) | (parent ? IBV_CQ_INIT_ATTR_MASK_PD : 0),
		.flags = flags,
		.parent_domain = parent,
	};
}

void oracle_moderation(struct ibv_modify_cq_attr *attr, uint16_t count, uint16_t period)
{
	*attr = (struct ibv_modify_cq_attr){
		.attr_mask = IBV_CQ_ATTR_MODERATE,
		.moderate = {.cq_count = count, .cq_period = period},
	};
}
