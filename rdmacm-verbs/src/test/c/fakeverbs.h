// SPDX-License-Identifier: Apache-2.0
// A stand-in for libibverbs and the driver of a device, for tests: real C structs, no device. It records every call,
// fails when it is told to, and completes what it is told to.
#ifndef FAKEVERBS_H
#define FAKEVERBS_H

#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>

enum { FAKE_ARGUMENTS = 8, FAKE_DATA = 2048, FAKE_RECORDS = 512, FAKE_QUEUE = 1024,
       FAKE_MOST_ENTRIES = 1 << 22 };

// One call: the function, its arguments widened to 64 bits, and what its pointers led to (work requests, lists).
struct fake_record {
	const char *function;
	uint64_t arguments[FAKE_ARGUMENTS];
	uint64_t data_size;
	uint8_t data[FAKE_DATA];
};

enum fake_kind { FAKE_LIST, FAKE_CONTEXT, FAKE_PD, FAKE_MR, FAKE_CHANNEL, FAKE_CQ, FAKE_QP, FAKE_SRQ, FAKE_XRCD, FAKE_AH, FAKE_DM, FAKE_TD, FAKE_MW, FAKE_WQ, FAKE_TABLE,
	FAKE_COUNTERS, FAKE_FLOW, FAKE_FLOW_ACTION, FAKE_DMAH, FAKE_BUF, FAKE_COMP_CNTR, FAKE_KINDS };

struct fake_cq {
	struct ibv_cq_ex ex; // begins as an ibv_cq does
	int users;           // queue pairs
	int armed;
	int polling;         // from start_poll to end_poll
	unsigned events;     // raised and not yet acknowledged
	unsigned head; // both only grow; one thread completes, one polls
	unsigned tail;
	struct ibv_wc queue[FAKE_QUEUE];
};

struct fake_channel {
	struct ibv_comp_channel channel; // fd is the end of a pipe that is read
	int writer;
};

struct fake_pd {
	struct ibv_pd pd;
	int users; // regions and queue pairs
	int *users_below[2]; // of a parent domain: the users of its domain, and of its thread domain
	struct ibv_parent_domain_init_attr parent;
};

struct fake_context {
	int users;
	int writer; // of the pipe whose end that is read is async_fd
	struct verbs_context extended; // ends with the ibv_context
};

// Control, called by the tests.

// Forgets what was recorded and scripted.
void fake_reset(void);
// Whether calls are recorded; on at first. Off, the calls of the data path do next to nothing.
void fake_recording(int on);
uint64_t fake_records(void);
const struct fake_record *fake_record_at(uint64_t index);
// After skipping some calls of a function (work requests of a post), the next one fails with the error number.
void fake_fail(const char *function, int error, int skip);
// What functions return that this library knows nothing about.
void fake_result(uint64_t result);
// The next call of a function waits inside until it is released; fake_await_held returns when it is there.
void fake_hold(const char *function);
void fake_await_held(void);
void fake_release(void);
// Whether each signaled send completes at once, as on a device that takes no time; off at first.
void fake_loop(int on);
// How many objects of a kind were made and not destroyed.
int fake_live(int kind);
void fake_devices(int count);
// Whether the devices that are opened from now on can do all that the stand-in can, on-demand paging too.
void fake_able(int on);
int fake_is_able(void);
// How a post names the request that it refuses; named at first.
enum fake_bad { FAKE_NAMED, FAKE_NULL, FAKE_UNTOUCHED };
void fake_bad_requests(enum fake_bad how);
// A completion arrives; raises an event when the queue was armed.
int fake_complete(struct ibv_cq *cq, const struct ibv_wc *completion);
// An event, whether the queue was armed or not.
void fake_raise(struct ibv_cq *cq);

// An asynchronous event of a context; the element as in the struct ibv_async_event.
void fake_async(struct ibv_context *context, int type, uint64_t element);

// Whether objects lie where their use after their end is noticed, and how many turns of a loop a call takes at most.
// Off at first; to be set before there are objects. With pages, who reads or writes a destroyed object is stopped by a
// signal. For a sanitizer objects lie in the heap of the C library.
enum { FAKE_WATCH = 1, FAKE_WATCH_PAGES = 2, FAKE_WATCH_BY_SANITIZER = 3 };
void fake_watch(int mode, int turns);
enum fake_misuse { FAKE_USED_AFTER_FREE, FAKE_FREED_IN_USE, FAKE_USED_TOGETHER, FAKE_FREED_TWICE,
	FAKE_WRITTEN_AFTER_FREE, FAKE_MISUSES };
uint64_t fake_misuses(int misuse);
// The function that did it last.
const char *fake_misused_by(int misuse);
// Completions arrive in a queue, numbered from 0.
void fake_fill(struct ibv_cq *cq, int count);

// For the parts of this library, and for other stand-ins.

void *fake_allocate(size_t size);
void fake_free(void *object);
void fake_used(const char *function, const uint64_t *arguments, int count);
// Reads an object as a driver does, when objects are watched.
void fake_touch(const void *object);
int fake_watching(void);

// Records a call. Returns 0, or the error number that it is to fail with.
int fake_called(const char *function, const uint64_t *arguments, int count, const void *data, size_t data_size);
// Adds to the data of the record that this thread made last.
void fake_append(const void *data, size_t size);
uint64_t fake_scripted_result(void);
int fake_looping(void);
void fake_refuse(void *bad, void *request);
void fake_fill_context(struct fake_context *context);
// Put the functions of one part into a context.
void fake_serve_memory(struct ibv_context *context);
void fake_serve_queries(struct ibv_context *context);
void fake_equip_completion(struct ibv_context *context);
void fake_fill_queue_pair(struct ibv_qp_ex *qp);
void fake_fill_completion_queue(struct ibv_cq_ex *cq);

// An object, counted by its kind and among the users of its parent (which may be NULL).
void *fake_make(enum fake_kind kind, size_t size, int *users);
int fake_destroy(enum fake_kind kind, void *object, int *users);
void fake_leave_wire(const void *object);
void fake_add(int *counter, int number);
uint32_t fake_next_number(void);
struct ibv_mr *fake_make_region(struct ibv_pd *pd, void *addr, size_t length);
int *fake_users_of_context(struct ibv_context *context);
int *fake_users_of_pd(struct ibv_pd *pd);
int *fake_users_of_cq(struct ibv_cq *cq);
int *fake_users_of_srq(struct ibv_srq *srq);
int *fake_users_of_xrcd(struct ibv_xrcd *xrcd);
void fake_fill_query(struct ibv_qp *qp, struct ibv_qp_attr *attr, struct ibv_qp_init_attr *init);

// What came after rdma-core 44, whose headers this is compiled with at least. The headers of a later release declare
// some of it, so nothing here bears a name of theirs.

// Where ibv_port_attr.active_speed_ex (49) lies, and the end of the struct since then.
#define FAKE_ACTIVE_SPEED_EX (offsetof(struct ibv_port_attr, port_cap_flags2) + 4)
#define FAKE_PORT_ATTR_SIZE (FAKE_ACTIVE_SPEED_EX + 4)

// Where ibv_qp_ex.wr_flush (45) lies, and the end of the struct since then.
#define FAKE_WR_FLUSH (offsetof(struct ibv_qp_ex, wr_atomic_write) + sizeof(void *))
#define FAKE_QP_EX_SIZE (FAKE_WR_FLUSH + sizeof(void *))
#define FAKE_EX_WITH_FLUSH (1 << 11)
typedef void fake_wr_flush(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, size_t len, uint8_t type,
			   uint8_t level);

#define FAKE_BITS(value) ((uint64_t)(value))
#define CALLED_WITH(data, size, ...)                                                                                  \
	fake_called(__func__, (uint64_t[]){__VA_ARGS__}, sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), data, size)
#define CALLED(...) CALLED_WITH(NULL, 0, __VA_ARGS__)

#endif
