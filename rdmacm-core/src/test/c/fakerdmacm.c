// SPDX-License-Identifier: Apache-2.0
// A stand-in for librdmacm, for what SoftRoCE refuses: it records every call with what its pointers lead to, and
// delivers the events that a test scripts. It never touches a device.
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ARGUMENTS = 5, DATA = 1024, RECORDS = 256, EVENTS = 1024, WRITTEN = 16 };

// Since rdma-core 60, later than the headers may be.
enum { ADDRINFO_RESOLVED = 16, USER = 18, SA = 0x10 };

struct fake_record {
	const char *function;
	uint64_t arguments[ARGUMENTS];
	uint64_t size;
	uint8_t data[DATA];
};

static struct fake_record records[RECORDS];
static uint64_t count;
static const char *failing;
static int failure;
static int passing;
static struct ibv_context *context;
static struct ibv_ece remote_ece;
static uint8_t private_data[UINT8_MAX];
static uint8_t private_length;
static int recording = 1;
static int answering;
static uint64_t taken, acknowledged;

// The kernel's side of a channel: events that nobody has taken yet.
struct channel {
	struct rdma_event_channel base;
	pthread_mutex_t mutex;
	struct rdma_cm_event *events[EVENTS];
	unsigned first, last;
};

struct event {
	struct rdma_cm_event base;
	struct id *counted; // whom it keeps from being destroyed
};

struct id {
	struct rdma_cm_id base;
	int taken; // events, not yet acknowledged
	struct rdma_addrinfo *found;
	void *joined; // what the last membership was given for its events
};

// What the stand-in for libibverbs lends (fake_share), for its objects and those here to be watched alike.
static void *plain_allocate(size_t size)
{
	return calloc(1, size);
}

static void plain_used(const char *function, const uint64_t *arguments, int number)
{
	(void) function;
	(void) arguments;
	(void) number;
}

static void *(*allocate)(size_t size) = plain_allocate;
static void (*release)(void *object) = free;
static void (*used)(const char *function, const uint64_t *arguments, int number) = plain_used;
static struct ibv_qp *(*create_qp)(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
static int (*destroy_qp)(struct ibv_qp *qp);
static struct ibv_srq *(*create_srq)(struct ibv_pd *pd, struct ibv_srq_init_attr *attr);
static int (*destroy_srq)(struct ibv_srq *srq);

// Controls, called by the tests.

void fake_reset(void)
{
	count = 0;
	failing = NULL;
	taken = acknowledged = 0;
	recording = 1;
	answering = 0;
	private_length = 0;
}

// On, what is to be resolved is resolved at once.
void fake_answering(int on)
{
	answering = on;
}

// Off, calls may come from many threads at once.
void fake_recording(int on)
{
	recording = on;
}

void fake_share(void *allocator, void *releaser, void *user, void *qp_creator, void *qp_destroyer)
{
	allocate = allocator;
	release = releaser;
	used = user;
	create_qp = qp_creator;
	destroy_qp = qp_destroyer;
}

// As fake_share, for shared receive queues too.
void fake_share_queues(void *srq_creator, void *srq_destroyer)
{
	create_srq = srq_creator;
	destroy_srq = srq_destroyer;
}

// Nothing is lent any more: nothing that was may be left.
void fake_unshare(void)
{
	allocate = plain_allocate;
	release = free;
	used = plain_used;
	create_qp = NULL;
	destroy_qp = NULL;
	create_srq = NULL;
	destroy_srq = NULL;
}

uint64_t fake_records(void)
{
	return count;
}

const struct fake_record *fake_record_at(uint64_t index)
{
	return &records[index];
}

// The next call of the function fails with the error number.
void fake_fail(const char *function, int error)
{
	failing = strdup(function);
	failure = error;
	passing = 0;
}

// The call of the function after so many others fails.
void fake_fail_after(const char *function, int calls, int error)
{
	fake_fail(function, error);
	passing = calls;
}

// What the ids made from now on are bound to.
void fake_context(struct ibv_context *verbs)
{
	context = verbs;
}

void fake_remote_ece(uint32_t vendor, uint32_t options)
{
	remote_ece = (struct ibv_ece) {.vendor_id = vendor, .options = options};
}

// What the connect requests made from now on carry.
void fake_private_data(const void *data, size_t length)
{
	private_length = length < UINT8_MAX ? length : UINT8_MAX;
	if (length)
		memcpy(private_data, data, private_length);
}

static void enqueue(struct rdma_cm_event *event, struct rdma_cm_id *id)
{
	struct channel *channel = (struct channel *) id->channel;
	uint64_t one = 1;

	((struct event *) event)->counted = (struct id *) id;
	pthread_mutex_lock(&channel->mutex);
	channel->events[channel->last++ % EVENTS] = event;
	pthread_mutex_unlock(&channel->mutex);
	if (write(channel->base.fd, &one, sizeof(one)) != sizeof(one))
		abort();
}

// The next event that rdma_get_cm_event finds: of an id without parameters, of the membership that it joined last, or a
// connect request with a new id.
void fake_event(struct rdma_cm_id *id, int type)
{
	struct rdma_cm_event *event = allocate(sizeof(struct event));

	event->event = type;
	if (type == RDMA_CM_EVENT_CONNECT_REQUEST) {
		event->listen_id = id;
		event->id = allocate(sizeof(struct id));
		*event->id = *id;
		event->id->route.addr.dst_storage = id->route.addr.src_storage; // from the same host
		event->param.conn.private_data = private_length ? private_data : NULL;
		event->param.conn.private_data_len = private_length;
	} else {
		event->id = id;
		if (type == RDMA_CM_EVENT_MULTICAST_JOIN || type == RDMA_CM_EVENT_MULTICAST_ERROR)
			event->param.ud.private_data = ((struct id *) id)->joined;
	}
	enqueue(event, id);
}

// How many events were taken and not given back.
uint64_t fake_unacknowledged(void)
{
	return taken - acknowledged;
}

static int called(const char *function, const uint64_t *arguments, int n, const void *data, size_t size)
{
	used(function, arguments, n);
	if (!recording)
		return 0;
	struct fake_record *record = &records[count++ % RECORDS];

	memset(record, 0, sizeof(*record));
	record->function = function;
	memcpy(record->arguments, arguments, n * sizeof(*arguments));
	if (data) {
		record->size = size < DATA ? size : DATA;
		memcpy(record->data, data, record->size);
	}
	if (failing && !strcmp(failing, function) && passing-- <= 0) {
		failing = NULL;
		errno = failure;
		return -1;
	}
	return 0;
}

#define CALLED(data, size, ...) \
	called(__func__, (uint64_t[]) {__VA_ARGS__}, sizeof((uint64_t[]) {__VA_ARGS__}) / sizeof(uint64_t), data, size)
#define WORD(x) ((uint64_t) (uintptr_t) (x))

static size_t address_size(const struct sockaddr *address)
{
	if (!address)
		return 0;
	switch (address->sa_family) {
	case AF_INET: return sizeof(struct sockaddr_in);
	case AF_INET6: return sizeof(struct sockaddr_in6);
	default: return 48; // struct sockaddr_ib
	}
}

struct rdma_event_channel *rdma_create_event_channel(void)
{
	if (CALLED(NULL, 0, 0))
		return NULL;
	struct channel *channel = allocate(sizeof(*channel));

	pthread_mutex_init(&channel->mutex, NULL);
	channel->base.fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
	return &channel->base;
}

void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	used(__func__, (uint64_t[]) {WORD(channel)}, 1);
	close(channel->fd);
	release(channel);
}

int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	struct channel *fake = (struct channel *) channel;
	uint64_t one;

	used(__func__, (uint64_t[]) {WORD(channel)}, 1);
	while (read(channel->fd, &one, sizeof(one)) == sizeof(one)) {
		pthread_mutex_lock(&fake->mutex);
		*event = fake->first == fake->last ? NULL : fake->events[fake->first++ % EVENTS];
		pthread_mutex_unlock(&fake->mutex);
		if (*event) {
			__atomic_add_fetch(&((struct event *) *event)->counted->taken, 1, __ATOMIC_SEQ_CST);
			__atomic_add_fetch(&taken, 1, __ATOMIC_SEQ_CST);
			return 0;
		}
		// it went with its id
	}
	return -1;
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	struct id *id = ((struct event *) event)->counted;

	used(__func__, (uint64_t[]) {WORD(event), WORD(id)}, 2);
	__atomic_sub_fetch(&id->taken, 1, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&acknowledged, 1, __ATOMIC_SEQ_CST);
	release(event);
	return 0;
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *user, enum rdma_port_space ps)
{
	if (CALLED(NULL, 0, WORD(channel), ps))
		return -1;
	*id = allocate(sizeof(struct id));
	(*id)->channel = channel;
	(*id)->context = user;
	(*id)->ps = ps;
	(*id)->verbs = context;
	(*id)->qp_type = ps == RDMA_PS_UDP || ps == RDMA_PS_IPOIB ? IBV_QPT_UD : IBV_QPT_RC;
	return 0;
}

// As the kernel: events that nobody has taken go with the id, and requests with their new ids.
static void drop_events(struct channel *channel, struct rdma_cm_id *id)
{
	unsigned kept = 0;

	pthread_mutex_lock(&channel->mutex);
	for (unsigned i = channel->first; i != channel->last; i++) {
		struct rdma_cm_event *event = channel->events[i % EVENTS];
		if (((struct event *) event)->counted != (struct id *) id) {
			channel->events[(channel->first + kept++) % EVENTS] = event;
			continue;
		}
		if (event->id != id)
			release(event->id);
		release(event);
	}
	channel->last = channel->first + kept;
	pthread_mutex_unlock(&channel->mutex);
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
	used(__func__, (uint64_t[]) {WORD(id), WORD(id->channel)}, 2);
	drop_events((struct channel *) id->channel, id);
	if (__atomic_load_n(&((struct id *) id)->taken, __ATOMIC_SEQ_CST) || id->qp || id->srq)
		abort(); // librdmacm would wait for ever, or leak
	rdma_freeaddrinfo(((struct id *) id)->found);
	release(id);
	return 0;
}

int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	if (CALLED(addr, address_size(addr), WORD(id)))
		return -1;
	memcpy(&id->route.addr.src_storage, addr, address_size(addr));
	return 0;
}

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src, struct sockaddr *dst, int timeout_ms)
{
	if (CALLED(dst, address_size(dst), WORD(id), WORD(src), (uint64_t) timeout_ms))
		return -1;
	memcpy(&id->route.addr.src_storage, src, address_size(src));
	memcpy(&id->route.addr.dst_storage, dst, address_size(dst));
	if (answering)
		fake_event(id, RDMA_CM_EVENT_ADDR_RESOLVED);
	return 0;
}

int rdma_listen(struct rdma_cm_id *id, int backlog)
{
	return CALLED(NULL, 0, WORD(id), (uint64_t) backlog);
}

int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
	if (CALLED(NULL, 0, WORD(id), (uint64_t) timeout_ms))
		return -1;
	if (answering)
		fake_event(id, RDMA_CM_EVENT_ROUTE_RESOLVED);
	return 0;
}

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	return CALLED(param, sizeof(*param), WORD(id));
}

int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	return CALLED(param, sizeof(*param), WORD(id));
}

int rdma_disconnect(struct rdma_cm_id *id)
{
	return CALLED(NULL, 0, WORD(id));
}

int rdma_set_option(struct rdma_cm_id *id, int level, int optname, void *optval, size_t optlen)
{
	return CALLED(optval, optlen, WORD(id), (uint64_t) level, (uint64_t) optname, optlen);
}

int rdma_set_local_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
	return CALLED(ece, sizeof(*ece), WORD(id));
}

int rdma_get_remote_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
	*ece = remote_ece;
	return CALLED(NULL, 0, WORD(id));
}

int rdma_reject(struct rdma_cm_id *id, const void *private_data, uint8_t private_data_len)
{
	return CALLED(private_data, private_data_len, WORD(id), private_data_len);
}

int rdma_reject_ece(struct rdma_cm_id *id, const void *private_data, uint8_t private_data_len)
{
	return CALLED(private_data, private_data_len, WORD(id), private_data_len);
}

int rdma_join_multicast_ex(struct rdma_cm_id *id, struct rdma_cm_join_mc_attr_ex *attributes, void *user)
{
	((struct id *) id)->joined = user;
	return CALLED(attributes->addr, address_size(attributes->addr), WORD(id), attributes->comp_mask,
		      attributes->join_flags, WORD(user));
}

int rdma_leave_multicast(struct rdma_cm_id *id, struct sockaddr *addr)
{
	return CALLED(addr, address_size(addr), WORD(id));
}

static int make_srq(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	if (create_srq) {
		id->srq = create_srq(pd, attr);
		return id->srq ? 0 : -1;
	}
	id->srq = calloc(1, sizeof(*id->srq));
	id->srq->context = id->verbs;
	return 0;
}

int rdma_create_srq_ex(struct rdma_cm_id *id, struct ibv_srq_init_attr_ex *attr)
{
	if (CALLED(attr, sizeof(*attr), WORD(id)))
		return -1;
	return make_srq(id, attr->pd, (struct ibv_srq_init_attr *) attr);
}

int rdma_create_srq(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	if (CALLED(attr, sizeof(*attr), WORD(id)))
		return -1;
	return make_srq(id, pd, attr);
}

void rdma_destroy_srq(struct rdma_cm_id *id)
{
	CALLED(NULL, 0, WORD(id));
	if (destroy_srq)
		destroy_srq(id->srq);
	else
		free(id->srq);
	id->srq = NULL;
}

int rdma_create_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *attr)
{
	if (CALLED(attr, sizeof(*attr), WORD(id)))
		return -1;
	if (create_qp) {
		id->qp = create_qp(attr->pd, (struct ibv_qp_init_attr *) attr);
		return id->qp ? 0 : -1;
	}
	id->qp = calloc(1, sizeof(*id->qp));
	id->qp->context = id->verbs;
	id->qp->qp_num = 77;
	return 0;
}

int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	if (CALLED(attr, sizeof(*attr), WORD(id)))
		return -1;
	id->qp = create_qp(pd, attr);
	return id->qp ? 0 : -1;
}

void rdma_destroy_qp(struct rdma_cm_id *id)
{
	CALLED(NULL, 0, WORD(id));
	if (destroy_qp)
		destroy_qp(id->qp);
	else
		free(id->qp);
	id->qp = NULL;
}

int rdma_join_multicast(struct rdma_cm_id *id, struct sockaddr *addr, void *user)
{
	((struct id *) id)->joined = user;
	return CALLED(addr, address_size(addr), WORD(id), WORD(user));
}

int rdma_establish(struct rdma_cm_id *id)
{
	return CALLED(NULL, 0, WORD(id));
}

int rdma_notify(struct rdma_cm_id *id, enum ibv_event_type event)
{
	return CALLED(NULL, 0, WORD(id), (uint64_t) event);
}

int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
	*mask = IBV_QP_STATE;
	return CALLED(attr, sizeof(*attr), WORD(id));
}

// Those events go with it that nobody has taken.
int rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *target)
{
	struct channel *from = (struct channel *) id->channel, *to = (struct channel *) target;
	uint64_t one = 1;

	if (CALLED(NULL, 0, WORD(id), WORD(target)))
		return -1;
	if (from == to)
		return 0;
	unsigned kept = 0;
	pthread_mutex_lock(&from->mutex);
	for (unsigned i = from->first; i != from->last; i++) {
		struct rdma_cm_event *event = from->events[i % EVENTS];
		if (((struct event *) event)->counted != (struct id *) id) {
			from->events[(from->first + kept++) % EVENTS] = event;
			continue;
		}
		pthread_mutex_lock(&to->mutex);
		to->events[to->last++ % EVENTS] = event;
		pthread_mutex_unlock(&to->mutex);
		if (write(target->fd, &one, sizeof(one)) != sizeof(one))
			abort();
	}
	from->last = from->first + kept;
	pthread_mutex_unlock(&from->mutex);
	id->channel = target;
	return 0;
}

__be16 rdma_get_src_port(struct rdma_cm_id *id)
{
	return CALLED(NULL, 0, WORD(id)) ? 0 : htons(0xfedc);
}

__be16 rdma_get_dst_port(struct rdma_cm_id *id)
{
	return CALLED(NULL, 0, WORD(id)) ? 0 : htons(0x1234);
}

const char *rdma_event_str(enum rdma_cm_event_type type)
{
	return CALLED(NULL, 0, (uint64_t) type) ? NULL : "an event";
}

struct ibv_context **rdma_get_devices(int *number)
{
	struct ibv_context **list = calloc(2, sizeof(*list));

	list[0] = context;
	if (number)
		*number = context != NULL;
	return list;
}

void rdma_free_devices(struct ibv_context **list)
{
	free(list);
}

// One way, to what the hints tell as the source. To the node "path", with a route and private data, of 3 and 2 bytes.
int rdma_getaddrinfo(const char *node, const char *service, const struct rdma_addrinfo *hints,
		     struct rdma_addrinfo **result)
{
	(void) service;
	if (CALLED(hints, sizeof(*hints), WORD(hints)))
		return -1;
	*result = calloc(1, sizeof(**result));
	**result = *hints;
	if (node && !strcmp(node, "path")) {
		(*result)->ai_route = memcpy(malloc(3), "\1\2\3", 3);
		(*result)->ai_route_len = 3;
		(*result)->ai_connect = memcpy(malloc(2), "\4\5", 2);
		(*result)->ai_connect_len = 2;
	}
	if (hints->ai_src_addr) {
		(*result)->ai_dst_len = hints->ai_src_len;
		(*result)->ai_dst_addr = memcpy(malloc(hints->ai_src_len), hints->ai_src_addr, hints->ai_src_len);
	}
	return 0;
}

void rdma_freeaddrinfo(struct rdma_addrinfo *result)
{
	while (result) {
		struct rdma_addrinfo *next = result->ai_next;

		free(result->ai_dst_addr);
		free(result->ai_route);
		free(result->ai_connect);
		free(result);
		result = next;
	}
}

// As the kernel, without a limit of its own: but the events of a channel must have room.
int rdma_write_cm_event(struct rdma_cm_id *id, enum rdma_cm_event_type type, int status, uint64_t arg)
{
	struct channel *channel = (struct channel *) id->channel;
	struct rdma_cm_event *event;

	if (CALLED(&arg, sizeof(arg), WORD(id), type, (uint64_t) status))
		return -1;
	pthread_mutex_lock(&channel->mutex);
	unsigned waiting = channel->last - channel->first;
	pthread_mutex_unlock(&channel->mutex);
	if (waiting >= WRITTEN) {
		errno = ENOMEM;
		return -1;
	}
	event = allocate(sizeof(struct event));
	event->event = type;
	event->id = id;
	event->status = status;
	memset(&event->param, 0xff, sizeof(event->param)); // undefined, but for the argument
	memcpy(&event->param, &arg, sizeof(arg));
	enqueue(event, id);
	return 0;
}

// Two services of InfiniBand, as the subnet administration tells them: without a type of queue pairs.
static struct rdma_addrinfo *services(void)
{
	struct rdma_addrinfo *first = NULL;

	for (int i = 2; i > 0; i--) {
		struct rdma_addrinfo *service = calloc(1, sizeof(*service));
		uint8_t *address = calloc(1, 48); // struct sockaddr_ib

		address[0] = AF_IB;
		address[23] = i; // the last byte of the GID
		service->ai_flags = SA;
		service->ai_family = AF_IB;
		service->ai_port_space = RDMA_PS_IB;
		service->ai_dst_addr = (struct sockaddr *) address;
		service->ai_dst_len = 48;
		service->ai_next = first;
		first = service;
	}
	return first;
}

// What follows the hints in the record: the node and the service, each with its final zero. The outcome for a service of
// InfiniBand is the test's.
int rdma_resolve_addrinfo(struct rdma_cm_id *id, const char *node, const char *service,
			  const struct rdma_addrinfo *hints)
{
	struct id *fake = (struct id *) id;
	uint8_t data[DATA] = {0};
	size_t size = sizeof(*hints);

	memcpy(data, hints, size);
	for (int i = 0; i < 2; i++) {
		const char *text = i ? service : node;
		size_t length = text ? strnlen(text, DATA / 4) : 0;

		memcpy(data + size, text ? text : "", length);
		size += length + 1;
	}
	if (CALLED(data, size, WORD(id), WORD(node), WORD(service), WORD(hints)))
		return -1;
	if (fake->found)
		abort(); // librdmacm has a rule of its own, but it is not to be tried
	if (hints->ai_flags & SA)
		return 0;
	fake->found = calloc(1, sizeof(*hints));
	fake->found->ai_flags = hints->ai_flags;
	fake->found->ai_port_space = hints->ai_port_space;
	fake->found->ai_qp_type = hints->ai_qp_type;
	fake_event(id, ADDRINFO_RESOLVED);
	return 0;
}

int rdma_query_addrinfo(struct rdma_cm_id *id, struct rdma_addrinfo **info)
{
	struct id *fake = (struct id *) id;

	if (CALLED(NULL, 0, WORD(id)))
		return -1;
	*info = fake->found ? fake->found : services();
	fake->found = NULL;
	return 0;
}
