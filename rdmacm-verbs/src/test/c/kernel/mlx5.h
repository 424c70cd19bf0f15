// SPDX-License-Identifier: Apache-2.0
/* What the driver told the kernel about the queues of mlx5_0, for the card that executes them. */
#ifndef MLX5_H
#define MLX5_H

#include "kernel.h"

/* A completion queue: entries of size bytes, of which the last 64 matter, and its doorbell record. */
struct completions {
    uint8_t *entries;
    volatile uint32_t *doorbell;   // what was consumed, and how it is armed
    uint32_t count;                // a power of two
    uint32_t size;
    uint32_t produced;
    uint32_t served;               // the arming whose event was delivered
    uint32_t channel;              // its file, or 0
    uint32_t handle;
    uint64_t user_handle;
};

/* Where receives are taken from: the queue of a queue pair, or a linked list of a shared receive queue. */
struct receives {
    uint8_t *entries;
    volatile uint32_t *doorbell;
    uint32_t count;
    uint32_t shift;
    uint16_t taken;
    bool shared;
    uint16_t next;                 // of a shared queue: the entry that is taken next
    uint32_t parts, limit;         // of a shared queue: the sizes, and when an event is raised
    uint32_t handle;
};

enum state { RESET, INIT, RTR, RTS, SQD, SQE, ERR };

struct queue_pair {
    uint32_t number, handle, user_index;
    uint32_t type;                 // enum ib_uverbs_qp_type
    bool dct, dci;
    uint64_t access_key;
    enum state state;
    uint8_t *sends;
    uint32_t send_count;           // of 64 bytes each; a power of two
    volatile uint32_t *doorbell;
    uint16_t executed;
    uint32_t peer;
    uint32_t qkey, access;
    uint8_t rnr_retry;
    unsigned waits;                // how often the peer had no receive
    struct receives receives;
    uint32_t shared_receives;      // the handle of the shared receive queue, or 0
    uint32_t send_completions, receive_completions;   // handles
    uint32_t domain;
    bool flushed;
    bool foreseen;                 // completions of its sends are written in advance
    uint32_t page;                 // of registers
};

/* A memory key: memory of the process, or, if there are parts, what a UMR operation made of other keys. */
struct memory_key {
    uint32_t key;
    uint64_t start, length;
    uint8_t *memory;
    uint32_t access, domain;
    unsigned parts;
    struct part {
        uint64_t address;
        uint32_t key, bytes, stride;
    } part[32];
    uint64_t repetitions;          // of an interleaved key; 0 for a list
};

bool mlx5_work(void);
struct queue_pair *mlx5_find(uint32_t number);
struct memory_key *mlx5_key(uint32_t key);
// The registers of a page, or NULL if it is not mapped.
const uint8_t *mlx5_registers(uint32_t page);
#define REGISTER_PAGES 256
#define REGISTER_PAGE 4096

/* mlx5devx.c */
int mlx5_general_command(struct request *request);
int mlx5_create_object(struct request *request, const uint8_t *command);
int mlx5_query_object(struct request *request);
int mlx5_modify_object(struct request *request);

/* mlx5memory.c */
int mlx5_memory_request(struct request *request);

#endif
