// SPDX-License-Identifier: Apache-2.0
// A provider without a device, for measuring what a call costs: a stand-in for libibverbs.so.1 whose queue pairs and
// completion queues do what a driver in user space does for each request and each completion, and no more. Entries of
// 64 bytes are filled in under the lock of the queue, copied to where the device has its queue (as drivers do where that
// is in memory of the device), and a doorbell is written; what was posted is complete at once.
// For one thread: the device's side of a completion queue has no lock of its own, as a device has none. There are only
// RDMA writes, and a request that a queue has no room for is a mistake of the benchmark, which ends it.
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

static void expect(int condition)
{
	if (!condition)
		abort();
}

// Begins the entry of the next request.
static struct null_wqe *begin(struct null_qp *qp, uint32_t flags, uint64_t id)
{
	uint32_t index = qp->posted++;
	expect(index - qp->completed <= qp->mask);
	struct null_wqe *wqe = &qp->ring[index & qp->mask];
	wqe->opcode_index = (index & 0xffff) << 8 | IBV_WR_RDMA_WRITE;
	wqe->flags_size = flags << 16;
	wqe->qp_num = qp->ex.qp_base.qp_num;
	wqe->inline_size = 0;
	qp->ids[index & qp->mask] = id;
	return wqe;
}

static void set_target(struct null_wqe *wqe, uint64_t remote_addr, uint32_t rkey)
{
	wqe->remote_addr = remote_addr;
	wqe->rkey = rkey;
}

static void set_list(struct null_qp *qp, struct null_wqe *wqe, const struct ibv_sge *list, uint32_t count)
{
	expect(count <= qp->max_sge);
	wqe->flags_size |= count;
	for (uint32_t i = 0; i < count; i++)
		wqe->sges[i] = list[i];
}

static void add_inline(struct null_qp *qp, struct null_wqe *wqe, const void *data, uint32_t size)
{
	expect(size <= qp->max_inline - wqe->inline_size);
	memcpy(wqe->data + wqe->inline_size, data, size);
	wqe->inline_size += size;
}

static int post_send(struct ibv_qp *posted, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	(void)bad;
	struct null_qp *qp = (struct null_qp *)posted;
	pthread_spin_lock(&qp->lock);
	for (; wr; wr = wr->next) {
		expect(wr->opcode == IBV_WR_RDMA_WRITE);
		struct null_wqe *wqe = begin(qp, wr->send_flags, wr->wr_id);
		set_target(wqe, wr->wr.rdma.remote_addr, wr->wr.rdma.rkey);
		if (wr->send_flags & IBV_SEND_INLINE) {
			for (int i = 0; i < wr->num_sge; i++)
				add_inline(qp, wqe, (const void *)(uintptr_t)wr->sg_list[i].addr, wr->sg_list[i].length);
		} else {
			set_list(qp, wqe, wr->sg_list, wr->num_sge);
		}
	}
	ring_doorbell(qp);
	pthread_spin_unlock(&qp->lock);
	return 0;
}

// ibv_wr_*

static void wr_start(struct ibv_qp_ex *started)
{
	pthread_spin_lock(&((struct null_qp *)started)->lock);
}

static void wr_rdma_write(struct ibv_qp_ex *of, uint32_t rkey, uint64_t remote_addr)
{
	struct null_qp *qp = (struct null_qp *)of;
	qp->current = begin(qp, of->wr_flags, of->wr_id);
	set_target(qp->current, remote_addr, rkey);
}

static void wr_set_sge_list(struct ibv_qp_ex *of, size_t count, const struct ibv_sge *list)
{
	struct null_qp *qp = (struct null_qp *)of;
	set_list(qp, qp->current, list, count);
}

static void wr_set_sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr, uint32_t length)
{
	wr_set_sge_list(qp, 1, &(struct ibv_sge){.addr = addr, .length = length, .lkey = lkey});
}

static void wr_set_inline_data(struct ibv_qp_ex *of, void *addr, size_t length)
{
	struct null_qp *qp = (struct null_qp *)of;
	add_inline(qp, qp->current, addr, length);
}

static int wr_complete(struct ibv_qp_ex *completed)
{
	struct null_qp *qp = (struct null_qp *)completed;
	ring_doorbell(qp);
	pthread_spin_unlock(&qp->lock);
	return 0;
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

// The request of a completion; it and those before it are done.
static uint64_t retire(struct null_cq *cq, const struct null_cqe *cqe)
{
	struct null_qp *qp = cq->last;
	if (!qp || qp->ex.qp_base.qp_num != cqe->qp_num)
		cq->last = qp = pairs[cqe->qp_num];
	qp->completed = cqe->wqe_index + 1;
	return qp->ids[cqe->wqe_index & qp->mask];
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
		wc->wr_id = retire(cq, cqe);
		wc->status = cqe->opcode_status & 0xff;
		expect(cqe->opcode_status >> 8 == IBV_WR_RDMA_WRITE);
		wc->opcode = IBV_WC_RDMA_WRITE;
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

static int next_poll(struct ibv_cq_ex *of)
{
	struct null_cq *cq = (struct null_cq *)of;
	const struct null_cqe *cqe = next_entry(cq);
	if (!cqe)
		return ENOENT;
	of->wr_id = retire(cq, cqe);
	of->status = cqe->opcode_status & 0xff;
	return 0;
}

static int start_poll(struct ibv_cq_ex *started, struct ibv_poll_cq_attr *attr)
{
	struct null_cq *cq = (struct null_cq *)started;
	(void)attr;
	pthread_spin_lock(&cq->lock);
	int error = next_poll(started);
	if (error)
		pthread_spin_unlock(&cq->lock);
	return error;
}

static void end_poll(struct ibv_cq_ex *ended)
{
	struct null_cq *cq = (struct null_cq *)ended;
	cq->doorbell = cq->consumed;
	pthread_spin_unlock(&cq->lock);
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
	expect(memory != NULL);
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

int ibv_dereg_mr(struct ibv_mr *mr)
{
	free(mr);
	return 0;
}

static struct ibv_cq_ex *create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
	uint32_t size = power_of_two(attr->cqe);
	struct null_cq *cq = zeroed(sizeof(*cq));
	cq->ex = (struct ibv_cq_ex){
		.context = context,
		.cqe = size,
		.start_poll = start_poll,
		.next_poll = next_poll,
		.end_poll = end_poll,
	};
	cq->mask = size - 1;
	cq->ring = zeroed(size * sizeof(*cq->ring));
	pthread_spin_init(&cq->lock, PTHREAD_PROCESS_PRIVATE);
	return &cq->ex;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int entries, void *cq_context,
			     struct ibv_comp_channel *channel, int vector)
{
	(void)cq_context, (void)channel, (void)vector;
	return ibv_cq_ex_to_cq(create_cq_ex(context, &(struct ibv_cq_init_attr_ex){.cqe = entries}));
}

int ibv_destroy_cq(struct ibv_cq *destroyed)
{
	struct null_cq *cq = (struct null_cq *)destroyed;
	pthread_spin_destroy(&cq->lock);
	free(cq->ring);
	free(cq);
	return 0;
}

static struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *init)
{
	static uint32_t last_number = 0x10;
	expect(init->cap.max_send_sge <= NULL_MAX_SGE && init->cap.max_inline_data <= NULL_MAX_INLINE);
	expect(last_number + 1 < sizeof(pairs) / sizeof(*pairs));
	uint32_t size = power_of_two(init->cap.max_send_wr);
	struct null_qp *qp = zeroed(sizeof(*qp));
	qp->ex = (struct ibv_qp_ex){
		.qp_base = {
			.context = context,
			.pd = init->pd,
			.send_cq = init->send_cq,
			.recv_cq = init->recv_cq,
			.qp_type = init->qp_type,
			.qp_num = ++last_number,
			.state = IBV_QPS_RTS, // there is nobody to connect it with
		},
		.wr_start = wr_start,
		.wr_rdma_write = wr_rdma_write,
		.wr_set_sge = wr_set_sge,
		.wr_set_sge_list = wr_set_sge_list,
		.wr_set_inline_data = wr_set_inline_data,
		.wr_complete = wr_complete,
	};
	qp->mask = size - 1;
	qp->max_sge = init->cap.max_send_sge;
	qp->max_inline = init->cap.max_inline_data;
	qp->ring = zeroed(size * sizeof(*qp->ring));
	qp->device = zeroed(size * sizeof(*qp->device));
	qp->ids = zeroed(size * sizeof(*qp->ids));
	pthread_spin_init(&qp->lock, PTHREAD_PROCESS_PRIVATE);
	pairs[last_number] = qp;
	return &qp->ex.qp_base;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	return create_qp_ex(pd->context, &(struct ibv_qp_init_attr_ex){
		.qp_type = init->qp_type,
		.send_cq = init->send_cq,
		.recv_cq = init->recv_cq,
		.cap = init->cap,
		.pd = pd,
	});
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

struct ibv_context *ibv_open_device(struct ibv_device *of)
{
	struct verbs_context *extended = zeroed(sizeof(*extended));
	extended->sz = sizeof(*extended);
	extended->create_cq_ex = create_cq_ex;
	extended->create_qp_ex = create_qp_ex;
	extended->context.ops.poll_cq = poll_cq;
	extended->context.ops.post_send = post_send;
	extended->context.device = of;
	extended->context.num_comp_vectors = 1;
	extended->context.async_fd = -1;
	extended->context.cmd_fd = -1;
	extended->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	return &extended->context;
}

int ibv_close_device(struct ibv_context *context)
{
	free(verbs_get_ctx(context));
	return 0;
}
