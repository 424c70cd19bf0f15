// SPDX-License-Identifier: Apache-2.0
// The functions of the driver, which verbs.h calls through the pointers in ibv_context.ops, verbs_context, ibv_qp_ex
// and ibv_cq_ex.
#include "fakeverbs.h"

#include <errno.h>
#include <string.h>

// ibv_context.ops

static int poll_cq(struct ibv_cq *cq, int entries, struct ibv_wc *wc)
{
	struct fake_cq *fake = (struct fake_cq *)cq;
	int error = CALLED(FAKE_BITS(cq), FAKE_BITS(entries), FAKE_BITS(wc));
	int taken = 0;
	if (error)
		return -error;
	for (; taken < entries && __atomic_load_n(&fake->tail, __ATOMIC_SEQ_CST) != fake->head; taken++) {
		wc[taken] = fake->queue[fake->head % FAKE_QUEUE];
		__atomic_store_n(&fake->head, fake->head + 1, __ATOMIC_SEQ_CST);
	}
	return taken;
}

int fake_complete(struct ibv_cq *cq, const struct ibv_wc *completion)
{
	struct fake_cq *fake = (struct fake_cq *)cq;
	if (fake->tail - __atomic_load_n(&fake->head, __ATOMIC_SEQ_CST) == FAKE_QUEUE)
		return ENOMEM;
	fake->queue[fake->tail % FAKE_QUEUE] = *completion;
	__atomic_store_n(&fake->tail, fake->tail + 1, __ATOMIC_SEQ_CST);
	if (__atomic_exchange_n(&fake->armed, 0, __ATOMIC_SEQ_CST))
		fake_raise(cq);
	return 0;
}

void fake_fill(struct ibv_cq *cq, int count)
{
	for (int i = 0; i < count; i++)
		fake_complete(cq, &(struct ibv_wc){.wr_id = i, .opcode = IBV_WC_SEND});
}

static int req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	int error = CALLED(FAKE_BITS(cq), FAKE_BITS(solicited_only));
	if (!error)
		__atomic_store_n(&((struct fake_cq *)cq)->armed, 1, __ATOMIC_SEQ_CST);
	return error;
}

static void complete_at_once(struct ibv_qp *qp, const struct ibv_send_wr *wr)
{
	static const enum ibv_wc_opcode opcodes[] = {
		[IBV_WR_RDMA_WRITE] = IBV_WC_RDMA_WRITE,
		[IBV_WR_RDMA_WRITE_WITH_IMM] = IBV_WC_RDMA_WRITE,
		[IBV_WR_SEND] = IBV_WC_SEND,
		[IBV_WR_SEND_WITH_IMM] = IBV_WC_SEND,
		[IBV_WR_RDMA_READ] = IBV_WC_RDMA_READ,
		[IBV_WR_ATOMIC_CMP_AND_SWP] = IBV_WC_COMP_SWAP,
		[IBV_WR_ATOMIC_FETCH_AND_ADD] = IBV_WC_FETCH_ADD,
		[IBV_WR_LOCAL_INV] = IBV_WC_LOCAL_INV,
		[IBV_WR_BIND_MW] = IBV_WC_BIND_MW,
		[IBV_WR_SEND_WITH_INV] = IBV_WC_SEND,
		[IBV_WR_TSO] = IBV_WC_TSO,
	};
	struct ibv_wc wc = {.wr_id = wr->wr_id, .opcode = opcodes[wr->opcode], .qp_num = qp->qp_num};
	if (wr->send_flags & IBV_SEND_SIGNALED)
		fake_complete(qp->send_cq, &wc);
}

// For each request its struct is recorded, then its list; what is inline is read as a driver would.
static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	int error = CALLED(FAKE_BITS(qp), FAKE_BITS(wr), FAKE_BITS(bad));
	fake_touch(qp);
	for (; wr && !error; wr = wr->next) {
		fake_append(wr, sizeof(*wr));
		fake_append(wr->sg_list, wr->num_sge * sizeof(*wr->sg_list));
		for (int i = 0; (wr->send_flags & IBV_SEND_INLINE) && i < wr->num_sge; i++) {
			fake_used("inline data", &wr->sg_list[i].addr, 1);
			fake_touch((const void *)(uintptr_t)wr->sg_list[i].addr);
			fake_append((const void *)(uintptr_t)wr->sg_list[i].addr, wr->sg_list[i].length);
		}
		if (fake_watching() && qp->qp_type == IBV_QPT_UD)
			fake_used("post_send to an address handle", (uint64_t[]){FAKE_BITS(wr->wr.ud.ah)}, 1);
		if (wr->opcode == IBV_WR_BIND_MW)
			fake_used("post_send of a memory window", (uint64_t[]){FAKE_BITS(wr->bind_mw.mw)}, 1);
		if (wr->opcode == IBV_WR_TSO)
			fake_append(wr->tso.hdr, wr->tso.hdr_sz);
		if (fake_looping())
			complete_at_once(qp, wr);
		if (wr->next)
			error = fake_called("next_send", (uint64_t[]){FAKE_BITS(wr->next)}, 1, NULL, 0);
	}
	if (error)
		fake_refuse(bad, wr);
	return error;
}

static int post_receives(struct ibv_recv_wr *wr, struct ibv_recv_wr **bad, int error)
{
	for (; wr && !error; wr = wr->next) {
		fake_append(wr, sizeof(*wr));
		fake_append(wr->sg_list, wr->num_sge * sizeof(*wr->sg_list));
		if (wr->next)
			error = fake_called("next_recv", (uint64_t[]){FAKE_BITS(wr->next)}, 1, NULL, 0);
	}
	if (error)
		fake_refuse(bad, wr);
	return error;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	int error = CALLED(FAKE_BITS(qp), FAKE_BITS(wr), FAKE_BITS(bad));
	fake_touch(qp);
	return post_receives(wr, bad, error);
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	int error = CALLED(FAKE_BITS(srq), FAKE_BITS(wr), FAKE_BITS(bad));
	fake_touch(srq);
	return post_receives(wr, bad, error);
}

static struct ibv_mw *alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	CALLED(FAKE_BITS(pd), type);
	return (struct ibv_mw *)fake_scripted_result();
}

static int bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	CALLED(FAKE_BITS(qp), FAKE_BITS(mw), FAKE_BITS(bind));
	return fake_scripted_result();
}

static int dealloc_mw(struct ibv_mw *mw)
{
	CALLED(FAKE_BITS(mw));
	return fake_scripted_result();
}

// verbs_context: each function only tells its name

#define EXTENDED(X)                                                                                                   \
	X(query_port) X(advise_mr) X(alloc_null_mr) X(read_counters) X(attach_counters_point_flow) X(create_counters)     \
	X(destroy_counters) X(reg_dm_mr) X(alloc_dm) X(free_dm) X(modify_flow_action_esp) X(destroy_flow_action)          \
	X(create_flow_action_esp) X(modify_qp_rate_limit) X(alloc_parent_domain) X(dealloc_td) X(alloc_td) X(modify_cq)   \
	X(post_srq_ops) X(destroy_rwq_ind_table) X(create_rwq_ind_table) X(destroy_wq) X(modify_wq) X(create_wq)          \
	X(query_rt_values) X(create_cq_ex) X(query_device_ex) X(ibv_destroy_flow) X(ibv_create_flow) X(open_qp)           \
	X(create_qp_ex) X(get_srq_num) X(create_srq_ex) X(open_xrcd) X(close_xrcd)

#define DEFINE(member)                                                                                                \
	static uint64_t extended_##member(void)                                                                           \
	{                                                                                                                 \
		fake_called(#member, NULL, 0, NULL, 0);                                                                       \
		return fake_scripted_result();                                                                                \
	}
EXTENDED(DEFINE)

void fake_fill_context(struct fake_context *context)
{
	struct ibv_context *base = &context->extended.context;
	base->ops.poll_cq = poll_cq;
	base->ops.req_notify_cq = req_notify_cq;
	base->ops.post_send = post_send;
	base->ops.post_recv = post_recv;
	base->ops.post_srq_recv = post_srq_recv;
	base->ops.alloc_mw = alloc_mw;
	base->ops.bind_mw = bind_mw;
	base->ops.dealloc_mw = dealloc_mw;
	base->abi_compat = __VERBS_ABI_IS_EXTENDED;
	context->extended.sz = sizeof(context->extended);
#define ASSIGN(member) context->extended.member = (void *)extended_##member;
	EXTENDED(ASSIGN)
}

// What the macro of verbs.h finds in a context; the members by their names.
void *fake_extended_op(struct ibv_context *context, const char *member)
{
#define FIND(name)                                                                                                    \
	if (strcmp(member, #name) == 0) {                                                                                 \
		struct verbs_context *found = verbs_get_ctx_op(context, name);                                                \
		return found ? (void *)found->name : NULL;                                                                    \
	}
	EXTENDED(FIND)
	return NULL;
}

void fake_set_extended_op(struct ibv_context *context, const char *member, void *function)
{
#define SET(name)                                                                                                     \
	if (strcmp(member, #name) == 0)                                                                                   \
		verbs_get_ctx(context)->name = function;
	EXTENDED(SET)
}

// How large a driver's verbs_context must be to have a member.
uint64_t fake_extended_size(const char *member)
{
#define SIZE(name)                                                                                                    \
	if (strcmp(member, #name) == 0)                                                                                   \
		return sizeof(struct verbs_context) - offsetof(struct verbs_context, name);
	EXTENDED(SIZE)
	return 0;
}

void fake_set_abi(struct ibv_context *context, void *abi_compat, size_t size)
{
	struct verbs_context *extended = (void *)((char *)context - offsetof(struct verbs_context, context));
	extended->sz = size;
	context->abi_compat = abi_compat;
}

// ibv_qp_ex: with each work request the members are recorded that are written before it, wr_id and wr_flags.

static void wr_atomic_cmp_swp(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, uint64_t compare,
			      uint64_t swap)
{
	CALLED(FAKE_BITS(qp), rkey, remote_addr, compare, swap, qp->wr_id, qp->wr_flags);
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, uint64_t value)
{
	CALLED(FAKE_BITS(qp), rkey, remote_addr, value, qp->wr_id, qp->wr_flags);
}

static void wr_bind_mw(struct ibv_qp_ex *qp, struct ibv_mw *mw, uint32_t rkey, const struct ibv_mw_bind_info *info)
{
	CALLED_WITH(info, sizeof(*info), FAKE_BITS(qp), FAKE_BITS(mw), rkey, FAKE_BITS(info), qp->wr_id, qp->wr_flags);
}

static void wr_local_inv(struct ibv_qp_ex *qp, uint32_t invalidate_rkey)
{
	CALLED(FAKE_BITS(qp), invalidate_rkey, qp->wr_id, qp->wr_flags);
}

static void wr_rdma_read(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
	CALLED(FAKE_BITS(qp), rkey, remote_addr, qp->wr_id, qp->wr_flags);
}

static void wr_rdma_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
	CALLED(FAKE_BITS(qp), rkey, remote_addr, qp->wr_id, qp->wr_flags);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, __be32 imm_data)
{
	CALLED(FAKE_BITS(qp), rkey, remote_addr, imm_data, qp->wr_id, qp->wr_flags);
}

static void wr_send(struct ibv_qp_ex *qp)
{
	CALLED(FAKE_BITS(qp), qp->wr_id, qp->wr_flags);
}

static void wr_send_imm(struct ibv_qp_ex *qp, __be32 imm_data)
{
	CALLED(FAKE_BITS(qp), imm_data, qp->wr_id, qp->wr_flags);
}

static void wr_send_inv(struct ibv_qp_ex *qp, uint32_t invalidate_rkey)
{
	CALLED(FAKE_BITS(qp), invalidate_rkey, qp->wr_id, qp->wr_flags);
}

static void wr_send_tso(struct ibv_qp_ex *qp, void *hdr, uint16_t hdr_sz, uint16_t mss)
{
	CALLED_WITH(hdr, hdr_sz, FAKE_BITS(qp), FAKE_BITS(hdr), hdr_sz, mss, qp->wr_id, qp->wr_flags);
}

static void wr_set_ud_addr(struct ibv_qp_ex *qp, struct ibv_ah *ah, uint32_t remote_qpn, uint32_t remote_qkey)
{
	CALLED(FAKE_BITS(qp), FAKE_BITS(ah), remote_qpn, remote_qkey);
}

static void wr_set_xrc_srqn(struct ibv_qp_ex *qp, uint32_t remote_srqn)
{
	CALLED(FAKE_BITS(qp), remote_srqn);
}

static void wr_set_inline_data(struct ibv_qp_ex *qp, void *addr, size_t length)
{
	CALLED_WITH(addr, length, FAKE_BITS(qp), FAKE_BITS(addr), length);
}

static void wr_set_inline_data_list(struct ibv_qp_ex *qp, size_t num_buf, const struct ibv_data_buf *buf_list)
{
	CALLED(FAKE_BITS(qp), num_buf, FAKE_BITS(buf_list));
	for (size_t i = 0; i < num_buf; i++)
		fake_append(buf_list[i].addr, buf_list[i].length);
}

static void wr_set_sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr, uint32_t length)
{
	CALLED(FAKE_BITS(qp), lkey, addr, length);
}

static void wr_set_sge_list(struct ibv_qp_ex *qp, size_t num_sge, const struct ibv_sge *sg_list)
{
	CALLED_WITH(sg_list, num_sge * sizeof(*sg_list), FAKE_BITS(qp), num_sge, FAKE_BITS(sg_list));
}

static void wr_start(struct ibv_qp_ex *qp)
{
	CALLED(FAKE_BITS(qp));
}

static int wr_complete(struct ibv_qp_ex *qp)
{
	CALLED(FAKE_BITS(qp));
	fake_touch(qp);
	return fake_scripted_result();
}

static void wr_abort(struct ibv_qp_ex *qp)
{
	CALLED(FAKE_BITS(qp));
}

static void wr_atomic_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, const void *atomic_wr)
{
	CALLED_WITH(atomic_wr, 8, FAKE_BITS(qp), rkey, remote_addr, FAKE_BITS(atomic_wr), qp->wr_id, qp->wr_flags);
}

static void wr_flush(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, size_t len, uint8_t type,
		     uint8_t level)
{
	CALLED(FAKE_BITS(qp), rkey, remote_addr, len, type, level, qp->wr_id, qp->wr_flags);
}

void fake_fill_queue_pair(struct ibv_qp_ex *qp)
{
	*(fake_wr_flush **)((char *)qp + FAKE_WR_FLUSH) = wr_flush;
#define QUEUE_PAIR(X)                                                                                                 \
	X(wr_atomic_cmp_swp) X(wr_atomic_fetch_add) X(wr_bind_mw) X(wr_local_inv) X(wr_rdma_read) X(wr_rdma_write)        \
	X(wr_rdma_write_imm) X(wr_send) X(wr_send_imm) X(wr_send_inv) X(wr_send_tso) X(wr_set_ud_addr) X(wr_set_xrc_srqn) \
	X(wr_set_inline_data) X(wr_set_inline_data_list) X(wr_set_sge) X(wr_set_sge_list) X(wr_start) X(wr_complete)      \
	X(wr_abort) X(wr_atomic_write)
#define ASSIGN_WR(member) qp->member = member;
	QUEUE_PAIR(ASSIGN_WR)
}

// ibv_cq_ex

static int start_poll(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
	CALLED_WITH(attr, sizeof(*attr), FAKE_BITS(cq), FAKE_BITS(attr));
	return fake_scripted_result();
}

static void end_poll(struct ibv_cq_ex *cq)
{
	CALLED(FAKE_BITS(cq));
}

static void read_tm_info(struct ibv_cq_ex *cq, struct ibv_wc_tm_info *info)
{
	CALLED(FAKE_BITS(cq), FAKE_BITS(info));
	info->tag = fake_scripted_result();
	info->priv = ~0u;
}

// These fill the whole register, as a compiler may do: the bits above the type of the member mean nothing.
#define READERS(X)                                                                                                    \
	X(next_poll) X(read_opcode) X(read_vendor_err) X(read_byte_len) X(read_imm_data) X(read_qp_num) X(read_src_qp)    \
	X(read_wc_flags) X(read_slid) X(read_sl) X(read_dlid_path_bits) X(read_completion_ts) X(read_cvlan)               \
	X(read_flow_tag) X(read_completion_wallclock_ns)
#define DEFINE_READER(member)                                                                                         \
	static uint64_t member(struct ibv_cq_ex *cq)                                                                      \
	{                                                                                                                 \
		CALLED(FAKE_BITS(cq));                                                                                        \
		return fake_scripted_result();                                                                                \
	}
READERS(DEFINE_READER)

void fake_fill_completion_queue(struct ibv_cq_ex *cq)
{
#define ASSIGN_READER(member) cq->member = (void *)member;
	READERS(ASSIGN_READER)
	cq->start_poll = start_poll;
	cq->end_poll = end_poll;
	cq->read_tm_info = read_tm_info;
}
