// SPDX-License-Identifier: Apache-2.0
// The part of an EFA card that the stand-in plays: it takes real entries out of the queues that libefa maps, moves the
// bytes that they name between the queues of this process, and writes real completions.
#ifndef EFANIC_H
#define EFANIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EFANIC_PAGE 4096
#define EFANIC_QUEUE_PAIRS 64
#define EFANIC_COMPLETION_QUEUES 64
#define EFANIC_ADDRESSES 64
#define EFANIC_REGIONS 256
#define EFANIC_MAPPINGS 512
#define EFANIC_SUB_QUEUES 2
#define EFANIC_NO_ADDRESS 0xffff
#define EFANIC_TRACES 64
#define EFANIC_MOST_ENTRY 128

// Limits of the device.
#define EFANIC_MAX_SENDS 4096
#define EFANIC_MAX_RECEIVES 8192
#define EFANIC_MAX_SEND_PARTS 2
#define EFANIC_MAX_RECEIVE_PARTS 3
#define EFANIC_MAX_INLINE 32
#define EFANIC_MAX_RDMA (1u << 30)
#define EFANIC_MAX_MESSAGE 8928

enum efanic_type { EFANIC_SRD, EFANIC_UD };

// Memory that the device shares with the program. The device keeps a mapping of its own, so that it may look at a queue
// that the program has unmapped already.
struct efanic_mapping {
    int file;
    uint8_t *memory;
    size_t bytes;
};

struct efanic_region {
    uint32_t key;
    uint32_t domain;
    uint64_t address;
    uint64_t bytes;
    uint32_t access;
};

struct efanic_address {
    bool used;
    uint32_t domain;
    uint8_t gid[16];
};

struct efanic_sub_queue {
    uint32_t produced;
};

struct efanic_cq {
    bool used;
    // what the events of the queue name it by
    uint64_t user_handle;
    unsigned events;
    struct efanic_mapping *buffer;
    struct efanic_mapping *doorbell;
    uint32_t entry_bytes;
    uint32_t entries;
    int channel;
    bool armed;
    struct efanic_sub_queue sub[EFANIC_SUB_QUEUES];
};

struct efanic_qp {
    bool used;
    uint16_t number;
    uint32_t domain;
    enum efanic_type type;
    int state;
    uint32_t queue_key;
    uint8_t rnr_retry;
    bool unsolicited;
    struct efanic_cq *send_cq;
    struct efanic_cq *receive_cq;
    struct efanic_mapping *sends;
    struct efanic_mapping *send_doorbell;
    struct efanic_mapping *receives;
    struct efanic_mapping *receive_doorbell;
    uint32_t send_bytes;
    uint32_t send_entries;
    uint32_t receive_entries;
    uint32_t sent;
    uint32_t received;
    // flips at each turn of the ring of sends, and survives RESET, as in libefa
    uint8_t phase;
};

// Called with an event for the completion channel of a queue.
typedef void (*efanic_notify)(int channel, struct efanic_cq *cq);

struct efanic {
    uint8_t gid[16];
    efanic_notify notify;
    // The status that the next send work requests complete with; 0 for what they deserve.
    int forced_status;
    int forced_count;
    unsigned long bad_entries;
    // The last send entries that were taken.
    unsigned long taken;
    uint8_t traces[EFANIC_TRACES][EFANIC_MOST_ENTRY];
    struct efanic_mapping mappings[EFANIC_MAPPINGS];
    struct efanic_region regions[EFANIC_REGIONS];
    struct efanic_address addresses[EFANIC_ADDRESSES];
    struct efanic_cq cqs[EFANIC_COMPLETION_QUEUES];
    struct efanic_qp qps[EFANIC_QUEUE_PAIRS];
};

extern struct efanic efanic;

// Shares memory of at least the given size with the program, and returns it, zeroed; NULL if there is no more.
struct efanic_mapping *efanic_map(size_t bytes);
void efanic_unmap(struct efanic_mapping *mapping);

// Does one thing that is to be done, and returns whether there was any.
bool efanic_step(void);

// Completes what a queue pair that goes to the error state still has to do.
void efanic_flush(struct efanic_qp *qp);
// Forgets where the queues of a queue pair are, as the transition to RESET demands.
void efanic_reset(struct efanic_qp *qp);

#endif
