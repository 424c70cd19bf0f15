// SPDX-License-Identifier: Apache-2.0
// What libibverbs exports, as far as it is needed, over the structs of verbs.h. Where the kernel would refuse to
// destroy what is still used, so does this; where the real library would wait for ever, this answers EBUSY too.
#include "fakeverbs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#undef ibv_reg_mr

static struct ibv_device devices[4];
static int device_count = 1;
static int live[FAKE_KINDS];
static uint32_t last_number;

uint32_t fake_next_number(void)
{
	return __atomic_add_fetch(&last_number, 1, __ATOMIC_SEQ_CST);
}

int *fake_users_of_pd(struct ibv_pd *pd)
{
	return &((struct fake_pd *)pd)->users;
}

int *fake_users_of_cq(struct ibv_cq *cq)
{
	return &((struct fake_cq *)cq)->users;
}

static struct fake_context *fake_of(struct ibv_context *context)
{
	return (struct fake_context *)((char *)context - offsetof(struct fake_context, extended.context));
}

int *fake_users_of_context(struct ibv_context *context)
{
	return &fake_of(context)->users;
}

void fake_add(int *counter, int number)
{
	__atomic_add_fetch(counter, number, __ATOMIC_SEQ_CST);
}

void *fake_make(enum fake_kind kind, size_t size, int *users)
{
	fake_add(&live[kind], 1);
	if (users)
		fake_add(users, 1);
	return fake_allocate(size);
}

int fake_destroy(enum fake_kind kind, void *object, int *users)
{
	fake_add(&live[kind], -1);
	if (users)
		fake_add(users, -1);
	fake_leave_wire(object);
	fake_free(object);
	return 0;
}

static void *failed(int error)
{
	errno = error;
	return NULL;
}

int fake_live(int kind)
{
	return live[kind];
}

void fake_devices(int count)
{
	device_count = count;
}

struct ibv_device **ibv_get_device_list(int *count)
{
	int error = CALLED(FAKE_BITS(count));
	if (error)
		return failed(error);
	struct ibv_device **list = fake_make(FAKE_LIST, (device_count + 1) * sizeof(*list), NULL);
	for (int i = 0; i < device_count; i++) {
		list[i] = &devices[i];
		list[i]->node_type = IBV_NODE_CA;
		list[i]->transport_type = IBV_TRANSPORT_IB;
		snprintf(list[i]->name, sizeof(list[i]->name), "fake%d", i);
		snprintf(list[i]->dev_name, sizeof(list[i]->dev_name), "uverbs%d", i);
		snprintf(list[i]->dev_path, sizeof(list[i]->dev_path), "/sys/class/infiniband_verbs/uverbs%d", i);
		snprintf(list[i]->ibdev_path, sizeof(list[i]->ibdev_path), "/sys/class/infiniband/fake%d", i);
	}
	if (count)
		*count = device_count;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	CALLED(FAKE_BITS(list));
	fake_destroy(FAKE_LIST, list, NULL);
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	int ends[2];
	int error = CALLED(FAKE_BITS(device));
	if (error || pipe2(ends, O_CLOEXEC))
		return failed(error ? error : errno);
	struct fake_context *context = fake_make(FAKE_CONTEXT, sizeof(*context), NULL);
	context->extended.context.device = device;
	context->extended.context.num_comp_vectors = 2;
	context->extended.context.async_fd = ends[0];
	context->writer = ends[1];
	fake_fill_context(context);
	if (fake_is_able()) {
		fake_serve_memory(&context->extended.context);
		fake_serve_queries(&context->extended.context);
		fake_equip_completion(&context->extended.context);
	}
	return &context->extended.context;
}

int ibv_close_device(struct ibv_context *context)
{
	int error = CALLED(FAKE_BITS(context));
	if (error)
		return error;
	if (*fake_users_of_context(context))
		return EBUSY;
	close(context->async_fd);
	close(fake_of(context)->writer);
	return fake_destroy(FAKE_CONTEXT, fake_of(context), NULL);
}

void fake_async(struct ibv_context *context, int type, uint64_t element)
{
	struct ibv_async_event event = {.event_type = type, .element.cq = (void *)element};
	if (write(fake_of(context)->writer, &event, sizeof(event)) != sizeof(event))
		abort();
}

// Where an object counts the events that were taken and are not yet acknowledged.
static uint32_t *unacknowledged(const struct ibv_async_event *event)
{
	switch (event->event_type) {
	case IBV_EVENT_CQ_ERR:
		return &event->element.cq->async_events_completed;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_PATH_MIG:
	case IBV_EVENT_PATH_MIG_ERR:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		return &event->element.qp->events_completed;
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		return &event->element.srq->events_completed;
	case IBV_EVENT_WQ_FATAL:
		return &event->element.wq->events_completed;
	default:
		return NULL;
	}
}

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	int error = CALLED(FAKE_BITS(context), FAKE_BITS(event));
	if (error) {
		errno = error;
		return -1;
	}
	if (read(context->async_fd, event, sizeof(*event)) != sizeof(*event))
		return -1;
	uint32_t *counter = unacknowledged(event);
	if (counter)
		__atomic_add_fetch(counter, 1, __ATOMIC_SEQ_CST);
	return 0;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	CALLED_WITH(event, sizeof(*event), FAKE_BITS(event));
	uint32_t *counter = unacknowledged(event);
	if (counter)
		__atomic_sub_fetch(counter, 1, __ATOMIC_SEQ_CST);
}

const char *ibv_event_type_str(enum ibv_event_type event)
{
	static char text[32];
	CALLED(event);
	snprintf(text, sizeof(text), "event %d", event);
	return text;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	int error = CALLED(FAKE_BITS(context));
	if (error)
		return failed(error);
	struct fake_pd *pd = fake_make(FAKE_PD, sizeof(*pd), fake_users_of_context(context));
	pd->pd.context = context;
	return &pd->pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	int error = CALLED(FAKE_BITS(pd));
	if (error)
		return error;
	if (*fake_users_of_pd(pd))
		return EBUSY;
	for (int i = 0; i < 2; i++) {
		if (((struct fake_pd *)pd)->users_below[i])
			fake_add(((struct fake_pd *)pd)->users_below[i], -1);
	}
	return fake_destroy(FAKE_PD, pd, fake_users_of_context(pd->context));
}

struct ibv_mr *fake_make_region(struct ibv_pd *pd, void *addr, size_t length)
{
	struct ibv_mr *mr = fake_make(FAKE_MR, sizeof(*mr), fake_users_of_pd(pd));
	mr->context = pd->context;
	mr->pd = pd;
	mr->addr = addr;
	mr->length = length;
	mr->lkey = 0x80000000u + fake_next_number(); // keys use all 32 bits
	mr->rkey = 0xc0000000u + fake_next_number();
	return mr;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	int error = CALLED(FAKE_BITS(pd), FAKE_BITS(addr), length, FAKE_BITS(access));
	return error ? failed(error) : fake_make_region(pd, addr, length);
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access)
{
	int error = CALLED(FAKE_BITS(pd), FAKE_BITS(addr), length, iova, access);
	return error ? failed(error) : fake_make_region(pd, addr, length);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	int error = CALLED(FAKE_BITS(mr));
	return error ? error : fake_destroy(FAKE_MR, mr, fake_users_of_pd(mr->pd));
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	int ends[2];
	int error = CALLED(FAKE_BITS(context));
	if (error || pipe2(ends, O_CLOEXEC))
		return failed(error ? error : errno);
	struct fake_channel *channel = fake_make(FAKE_CHANNEL, sizeof(*channel), fake_users_of_context(context));
	channel->channel.context = context;
	channel->channel.fd = ends[0];
	channel->writer = ends[1];
	return &channel->channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	int error = CALLED(FAKE_BITS(channel));
	if (error || channel->refcnt)
		return error ? error : EBUSY;
	close(channel->fd);
	close(((struct fake_channel *)channel)->writer);
	return fake_destroy(FAKE_CHANNEL, channel, fake_users_of_context(channel->context));
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context)
{
	int error = CALLED(FAKE_BITS(channel));
	if (error) {
		errno = error;
		return -1;
	}
	if (read(channel->fd, cq, sizeof(*cq)) != sizeof(*cq))
		return -1;
	*cq_context = (*cq)->cq_context;
	return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int count)
{
	CALLED(FAKE_BITS(cq), count);
	__atomic_sub_fetch(&((struct fake_cq *)cq)->events, count, __ATOMIC_SEQ_CST);
}

void fake_raise(struct ibv_cq *cq)
{
	struct fake_channel *channel = (struct fake_channel *)cq->channel;
	__atomic_add_fetch(&((struct fake_cq *)cq)->events, 1, __ATOMIC_SEQ_CST);
	if (write(channel->writer, &cq, sizeof(cq)) != sizeof(cq))
		abort();
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int entries, void *cq_context,
			     struct ibv_comp_channel *channel, int vector)
{
	int error = CALLED(FAKE_BITS(context), FAKE_BITS(entries), FAKE_BITS(cq_context), FAKE_BITS(channel),
			   FAKE_BITS(vector));
	if (error || entries > FAKE_MOST_ENTRIES)
		return failed(error ? error : EINVAL);
	struct fake_cq *cq = fake_make(FAKE_CQ, sizeof(*cq), fake_users_of_context(context));
	cq->ex.context = context;
	cq->ex.channel = channel;
	cq->ex.cq_context = cq_context;
	for (cq->ex.cqe = 1; cq->ex.cqe < entries; cq->ex.cqe *= 2) {
		// devices have powers of two
	}
	fake_fill_completion_queue(&cq->ex);
	if (channel)
		fake_add(&channel->refcnt, 1);
	return ibv_cq_ex_to_cq(&cq->ex);
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	int error = CALLED(FAKE_BITS(cq));
	if (error || *fake_users_of_cq(cq) || ((struct fake_cq *)cq)->events || cq->async_events_completed)
		return error ? error : EBUSY;
	if (cq->channel)
		fake_add(&cq->channel->refcnt, -1);
	return fake_destroy(FAKE_CQ, cq, fake_users_of_context(cq->context));
}

struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	return (struct ibv_qp_ex *)qp;
}

int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init)
{
	int error = CALLED(FAKE_BITS(qp), FAKE_BITS(attr), FAKE_BITS(mask), FAKE_BITS(init));
	if (!error)
		fake_fill_query(qp, attr, init);
	return error;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	int error = CALLED_WITH(attr, sizeof(*attr), FAKE_BITS(qp), FAKE_BITS(attr), FAKE_BITS(mask));
	if (!error && (mask & IBV_QP_STATE))
		qp->state = attr->qp_state;
	return error;
}
