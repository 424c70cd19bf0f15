// SPDX-License-Identifier: Apache-2.0
// A provider without a device, for measuring what a call costs: a stand-in for libibverbs.so.1 whose queue pairs and
// completion queues do what a driver in user space does for each request and each completion, and no more. Entries of
// 64 bytes are filled in under the lock of the queue, copied to where the device has its queue (as drivers do where that
// is in memory of the device), and a doorbell is written; what was posted is complete at once.
// For one thread: the device's side of a completion queue has no lock of its own, as a device has none.
#ifndef NULLVERBS_H
#define NULLVERBS_H

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdint.h>

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

#endif
