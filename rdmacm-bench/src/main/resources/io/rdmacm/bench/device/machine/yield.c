// SPDX-License-Identifier: Apache-2.0
//
// Preloaded into a program of perftest, which only knows how to poll busily: gives up the CPU whenever a poll finds
// nothing, and with RDMACM_YIELD_ALWAYS after every poll, for the test that then watches memory.
//
// Writes the nanoseconds from the first post to the last completion into the file RDMACM_ELAPSED: on one CPU, where its
// peer does the same at the same time, perftest often fails to measure the frequency that its own figure needs.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int (*poll_of_driver)(struct ibv_cq *queue, int entries, struct ibv_wc *completions);
static int (*post_of_driver)(struct ibv_qp *queue, struct ibv_send_wr *requests, struct ibv_send_wr **refused);
static int always;
static long long first;
static long long last;

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static int post_and_note(struct ibv_qp *queue, struct ibv_send_wr *requests, struct ibv_send_wr **refused) {
    if (first == 0) {
        first = now();
    }
    return post_of_driver(queue, requests, refused);
}

static int poll_and_yield(struct ibv_cq *queue, int entries, struct ibv_wc *completions) {
    int taken = poll_of_driver(queue, entries, completions);
    if (taken > 0) {
        last = now();
    }
    if (taken == 0 || always) {
        sched_yield();
    }
    return taken;
}

struct ibv_context *ibv_open_device(struct ibv_device *device) {
    struct ibv_context *(*open_device)(struct ibv_device *) =
        (struct ibv_context *(*)(struct ibv_device *)) dlsym(RTLD_NEXT, "ibv_open_device");
    struct ibv_context *context = open_device(device);
    if (context != NULL && context->ops.poll_cq != poll_and_yield) {
        poll_of_driver = context->ops.poll_cq;
        post_of_driver = context->ops.post_send;
        context->ops.poll_cq = poll_and_yield;
        context->ops.post_send = post_and_note;
        always = getenv("RDMACM_YIELD_ALWAYS") != NULL;
    }
    return context;
}

__attribute__((destructor)) static void tell(void) {
    const char *name = getenv("RDMACM_ELAPSED");
    FILE *file = name == NULL || first == 0 ? NULL : fopen(name, "w");
    if (file != NULL) {
        fprintf(file, "%lld\n", last - first);
        fclose(file);
    }
}
