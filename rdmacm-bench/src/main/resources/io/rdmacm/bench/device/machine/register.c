// SPDX-License-Identifier: Apache-2.0
//
// register DEVICE COUNT SIZE...: prints for each size the medians of the nanoseconds that the registration of a region
// and its deregistration take.
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static int compare(const void *a, const void *b) {
    int64_t x = *(const int64_t *) a;
    int64_t y = *(const int64_t *) b;
    return (x > y) - (x < y);
}

static int fail(const char *what) {
    perror(what);
    return 1;
}

static struct ibv_context *open_device(const char *name) {
    struct ibv_device **devices = ibv_get_device_list(NULL);
    struct ibv_context *context = NULL;
    for (int i = 0; devices != NULL && devices[i] != NULL; i++) {
        if (strcmp(ibv_get_device_name(devices[i]), name) == 0) {
            context = ibv_open_device(devices[i]);
        }
    }
    return context;
}

int main(int argc, char **argv) {
    if (argc < 4) {
        fprintf(stderr, "register DEVICE COUNT SIZE...\n");
        return 2;
    }
    struct ibv_context *context = open_device(argv[1]);
    struct ibv_pd *domain = context == NULL ? NULL : ibv_alloc_pd(context);
    if (domain == NULL) {
        return fail("device");
    }
    int count = atoi(argv[2]);
    int64_t *made = calloc(count, sizeof *made);
    int64_t *freed = calloc(count, sizeof *freed);
    for (int arg = 3; arg < argc; arg++) {
        size_t size = strtoull(argv[arg], NULL, 10);
        void *memory = aligned_alloc(4096, (size + 4095) / 4096 * 4096);
        if (memory == NULL) {
            return fail("memory");
        }
        memset(memory, 1, size);
        for (int i = 0; i < count; i++) {
            int64_t start = now();
            struct ibv_mr *region = ibv_reg_mr(domain, memory, size,
                IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
            int64_t middle = now();
            if (region == NULL || ibv_dereg_mr(region) != 0) {
                return fail("region");
            }
            made[i] = middle - start;
            freed[i] = now() - middle;
        }
        qsort(made, count, sizeof *made, compare);
        qsort(freed, count, sizeof *freed, compare);
        printf("%zu %lld %lld\n", size, (long long) made[count / 2], (long long) freed[count / 2]);
        free(memory);
    }
    return 0;
}
