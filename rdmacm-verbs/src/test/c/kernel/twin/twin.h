// SPDX-License-Identifier: Apache-2.0
/*
 * The twin: a program in C that does what a test does in Java, in the same process and with the same memory, from the
 * opening of the device to its closing. Over the stand-in for the kernel both get the same numbers, so all that the
 * card can see has to be the same.
 */
#ifndef TWIN_H
#define TWIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>

/* What a queue pair is: of a type, and made for batches (ibv_wr_*) or for the calls ibv_post_*. */
enum queues { RC, UC, UD, XRC, UMR, DCI, DCI_STREAMS, CLASSIC_RC, CLASSIC_UC, CLASSIC_UD, CLASSIC_XRC, SHARED };

/* What both sides take for the same. */
#define ID 7
#define DEPTH 32
#define RECEIVES 16
#define PARTS 4
#define INLINE_BYTES 128
#define COMPLETIONS 64
#define PORT 1
#define QUEUE_KEY 0x11223344
#define TARGET 0x777
#define TARGET_KEY 0x1122334455667788
#define IMMEDIATE 0x0a0b0c0d
#define REMOTE_QUEUE 0x1234
#define FLOW_LABEL 0x12345

struct twin {
    struct ibv_context *context;
    struct ibv_pd *domain;
    struct ibv_mr *region;
    struct ibv_comp_channel *channel;
    struct ibv_cq *completions;
    struct ibv_srq *shared;
    struct ibv_qp *pair;
    struct ibv_qp_ex *batch;
    struct mlx5dv_qp_ex *direct;
    struct ibv_ah *address;
    struct mlx5dv_mkey *key;
    struct ibv_mw *window;
    uint64_t local, remote;    // addresses in the region
    uint8_t *memory;
};

struct operation {
    const char *name;
    enum queues queues;
    // Posts; returns 0 or an error. Within a batch, if there are batches.
    int (*post)(struct twin *);
};

extern const struct operation operations[];

/* setup.c: returns NULL, or what has failed. */
const char *twin_open(struct twin *twin, enum queues queues, void *memory, size_t bytes);
const char *twin_close(struct twin *twin);
bool in_batches(enum queues queues);

#endif
