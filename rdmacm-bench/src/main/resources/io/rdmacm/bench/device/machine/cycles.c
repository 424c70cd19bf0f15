// SPDX-License-Identifier: Apache-2.0
//
// Prints how many cycles of the counter that perftest reads make a microsecond.
#include <stdint.h>
#include <stdio.h>
#include <time.h>

static uint64_t cycles(void) {
#if defined(__x86_64__) || defined(__i386__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t value;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(value));
    return value;
#else
#error "which counter perftest reads on this machine is not known"
#endif
}

struct moment {
    uint64_t cycles;
    double micros;
};

static struct moment now(void) {
    struct moment best = {0, 0};
    uint64_t shortest = UINT64_MAX;
    // The one that nothing came in between of.
    for (int i = 0; i < 2000; i++) {
        struct timespec time;
        uint64_t before = cycles();
        clock_gettime(CLOCK_MONOTONIC, &time);
        uint64_t after = cycles();
        if (after - before < shortest) {
            shortest = after - before;
            best.cycles = before + (after - before) / 2;
            best.micros = time.tv_sec * 1e6 + time.tv_nsec / 1e3;
        }
    }
    return best;
}

int main(void) {
    struct timespec pause = {0, 200 * 1000 * 1000};
    struct moment first = now();
    nanosleep(&pause, NULL);
    struct moment second = now();
    printf("%.6f\n", (second.cycles - first.cycles) / (second.micros - first.micros));
    return 0;
}
