// SPDX-License-Identifier: Apache-2.0
// A provider without a device, for measuring what a call costs: a stand-in for libibverbs.so.1 whose queue pairs and
// completion queues do what a driver in user space does for each request and each completion, and no more. Entries of
// 64 bytes are filled in under the lock of the queue, copied to where the device has its queue (as drivers do where that
// is in memory of the device), and a doorbell is written; what was posted is complete at once.
// For one thread: the device's side of a completion queue has no lock of its own, as a device has none.
#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#undef ibv_reg_mr

enum { NULL_MAX_SGE = 2, NULL_MAX_INLINE = 32, NULL_ENTRY = 64 };

// An entry of a send queue.
struct null_wqe {
	uint32_t opcode_index;
	uint32_t flags_size;
	uint32_t qp_num;
	uint32_t imm_data;
	uint64_t remote_addr;
	uint32_t rkey;
	uint32_t inline_size;
	union {
		struct ibv_sge sges[NULL_MAX_SGE];
		uint8_t data[NULL_MAX_INLINE];
	};
} __attribute__((aligned(NULL_ENTRY), may_alias));

// An entry of a completion queue.
struct null_cqe {
	uint32_t qp_num;
	uint32_t wqe_index;
	uint32_t byte_len;
	uint32_t imm_data;
	uint64_t timestamp;
	uint8_t reserved[NULL_ENTRY - 32];
	uint32_t opcode_status;
	uint32_t owner; // which time round the ring it was written
} __attribute__((aligned(NULL_ENTRY), may_alias));

_Static_assert(sizeof(struct null_wqe) == NULL_ENTRY, "a send queue entry has 64 bytes");
_Static_assert(sizeof(struct null_cqe) == NULL_ENTRY, "a completion queue entry has 64 bytes");

struct null_cq {
	struct ibv_cq_ex ex; // begins as an ibv_cq does
	pthread_spinlock_t lock;
	uint32_t mask;
	uint32_t consumed;
	uint32_t produced; // the device's own
	struct null_cqe *ring;
	const struct null_cqe *current; // while it is polled in place
	struct null_qp *last; // whose completion came last
	volatile uint32_t doorbell;
};

struct null_qp {
	struct ibv_qp_ex ex; // begins as an ibv_qp does
	pthread_spinlock_t lock;
	uint32_t mask;
	uint32_t posted;
	uint32_t completed;
	uint32_t executed; // the device's own
	uint32_t begun; // posted and what the batch under way adds
	int error; // of the batch under way
	int signal_all;
	uint32_t max_sge;
	uint32_t max_inline;
	struct null_wqe *ring;
	struct null_wqe *device; // its copy of the ring, which the driver only writes
	uint64_t *ids;
	struct null_wqe *current; // of the batch under way
	volatile uint32_t doorbell;
};

// The send side of the null provider: requests of ibv_post_send and of ibv_wr_*.

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
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_READ:
		wqe->remote_addr = wr->wr.rdma.remote_addr;
		wqe->rkey = wr->wr.rdma.rkey;
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

static int post_send(struct ibv_qp *posted, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
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

static void fill_qp(struct null_qp *qp)
{
	qp->ex.wr_start = wr_start;
	qp->ex.wr_rdma_write = wr_rdma_write;
	qp->ex.wr_set_sge = wr_set_sge;
	qp->ex.wr_set_sge_list = wr_set_sge_list;
	qp->ex.wr_set_inline_data = wr_set_inline_data;
	qp->ex.wr_complete = wr_complete;
	qp->ex.wr_abort = wr_abort;
}

// The completion side of the null provider: ibv_poll_cq, and polls in place.

// By number. Numbers are given in a row and not given again.
static struct null_qp *pairs[1 << 20];

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

// ibv_start_poll and the like; what is read of a completion lies in the queue

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

static void fill_cq(struct null_cq *cq)
{
	cq->ex.start_poll = start_poll;
	cq->ex.next_poll = next_poll;
	cq->ex.end_poll = end_poll;
}

// What libibverbs exports, as far as the benchmarks need it.

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
	if (!memory)
		abort();
	return memset(memory, 0, rounded);
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

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct ibv_pd *pd = zeroed(sizeof(*pd));
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

static struct null_cq *make_cq(struct ibv_context *context, uint32_t entries)
{
	uint32_t size = power_of_two(entries);
	struct null_cq *cq = zeroed(sizeof(*cq));
	struct null_cqe *ring = zeroed(size * sizeof(*ring));
	cq->ex.context = context;
	cq->ex.cqe = size;
	cq->mask = size - 1;
	cq->ring = ring;
	pthread_spin_init(&cq->lock, PTHREAD_PROCESS_PRIVATE);
	fill_cq(cq);
	return cq;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int entries, void *cq_context,
			     struct ibv_comp_channel *channel, int vector)
{
	(void)vector;
	struct null_cq *cq = make_cq(context, entries);
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
	if (cap->max_send_sge > NULL_MAX_SGE || cap->max_inline_data > NULL_MAX_INLINE ||
	    last_number + 1 == sizeof(pairs) / sizeof(*pairs))
		abort();
	uint32_t size = power_of_two(cap->max_send_wr);
	struct null_qp *qp = zeroed(sizeof(*qp));
	struct null_wqe *ring = zeroed(size * sizeof(*ring));
	struct null_wqe *copy = zeroed(size * sizeof(*copy));
	uint64_t *ids = zeroed(size * sizeof(*ids));
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
	fill_qp(qp);
	cap->max_send_wr = size;
	pairs[last_number] = qp;
	return &qp->ex.qp_base;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	return make_qp(pd, init->send_cq, init->recv_cq, init->qp_type, init->sq_sig_all, &init->cap);
}

static struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *init)
{
	(void)context;
	return make_qp(init->pd, init->send_cq, init->recv_cq, init->qp_type, init->sq_sig_all, &init->cap);
}

int ibv_destroy_qp(struct ibv_qp *destroyed)
{
	struct null_qp *qp = (struct null_qp *)destroyed;
	struct null_cq *cq = (struct null_cq *)qp->ex.qp_base.send_cq;
	if (cq->last == qp)
		cq->last = NULL;
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

static struct ibv_cq_ex *create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
	return (struct ibv_cq_ex *)make_cq(context, attr->cqe);
}

static void fill_context(struct verbs_context *context)
{
	context->context.ops.poll_cq = poll_cq;
	context->context.ops.post_send = post_send;
	context->create_cq_ex = create_cq_ex;
	context->create_qp_ex = create_qp_ex;
}

struct ibv_context *ibv_open_device(struct ibv_device *of)
{
	struct verbs_context *extended = zeroed(sizeof(*extended));
	extended->sz = sizeof(*extended);
	extended->context.device = of;
	extended->context.num_comp_vectors = 1;
	extended->context.async_fd = -1;
	extended->context.cmd_fd = -1;
	extended->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	fill_context(extended);
	return &extended->context;
}

int ibv_close_device(struct ibv_context *context)
{
	free(verbs_get_ctx(context));
	return 0;
}
