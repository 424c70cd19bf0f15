// SPDX-License-Identifier: Apache-2.0
/* The thread that plays the cards. It looks for work all the time, and sleeps a little if there is none. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "kernel.h"

#define IDLE_TURNS 1000
#define IDLE_NANOSECONDS 50000

static bool held;

/* For the tests: lets the cards do nothing until they are released, so that the queues stay as they were written. */
void kernel_hold(int on) {
    lock();
    held = on;
    unlock();
}

static void *work(void *none) {
    unsigned idle = 0;
    while (true) {
        bool busy = false;
        lock();
        for (const struct device *const *device = devices; !held && *device; device++) {
            busy |= (*device)->work && (*device)->work();
        }
        unlock();
        idle = busy ? 0 : idle + 1;
        if (idle > IDLE_TURNS) {
            nanosleep(&(struct timespec){.tv_nsec = IDLE_NANOSECONDS}, NULL);
        } else {
            sched_yield();
        }
    }
    return none;
}

static void start(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, NULL)) abort();
    pthread_detach(thread);
}

void start_nic(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start);
}
