// SPDX-License-Identifier: Apache-2.0
//
// Preloaded into a program of perftest, which only knows how to poll busily: gives up the CPU whenever a poll finds
// nothing, and with RDMACM_YIELD_ALWAYS after every poll, for the test that then watches memory. Also before it looks at
// the clock, which perftest does in a loop to measure the frequency of the CPU: at the end of a time slice the peer came
// in between too often.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/time.h>

static int (*poll_of_driver)(struct ibv_cq *queue, int entries, struct ibv_wc *completions);
static int always;

static int poll_and_yield(struct ibv_cq *queue, int entries, struct ibv_wc *completions) {
    int taken = poll_of_driver(queue, entries, completions);
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
        context->ops.poll_cq = poll_and_yield;
        always = getenv("RDMACM_YIELD_ALWAYS") != NULL;
    }
    return context;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    int (*real)(struct timeval *, void *) = (int (*)(struct timeval *, void *)) dlsym(RTLD_NEXT, "gettimeofday");
    sched_yield();
    return real(time, zone);
}
