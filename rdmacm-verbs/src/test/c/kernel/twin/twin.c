// SPDX-License-Identifier: Apache-2.0
/* What the tests call. */
#include <stdio.h>
#include <string.h>

#include "twin.h"

// of the stand-in, which is preloaded
int kernel_view(char *bytes, size_t size);

/* Returns the name of an operation, or NULL after the last one. */
const char *twin_operation(int index) {
    return operations[index].name;
}

static int post(struct twin *twin, const struct operation *operation) {
    if (!in_batches(operation->queues)) return operation->post(twin);
    ibv_wr_start(twin->batch);
    twin->batch->wr_id = ID;
    twin->batch->wr_flags = IBV_SEND_SIGNALED;
    int error = operation->post(twin);
    return error ? error : ibv_wr_complete(twin->batch);
}

static const char *run(struct twin *twin, const struct operation *operation, void *memory, size_t bytes, char *text,
        size_t size) {
    const char *failed = twin_open(twin, operation->queues, memory, bytes);
    if (failed) return failed;
    if (post(twin, operation)) return operation->name;
    return kernel_view(text, size) ? NULL : "there is no room for what the card can see";
}

/* Does an operation, and writes what the card can see then, or what has failed. Returns whether all is well. */
int twin_run(const char *name, void *memory, size_t bytes, char *text, size_t size) {
    for (const struct operation *operation = operations; operation->name; operation++) {
        if (strcmp(operation->name, name)) continue;
        struct twin twin = {0};
        const char *failed = run(&twin, operation, memory, bytes, text, size);
        const char *left = twin_close(&twin);
        if (failed || left) snprintf(text, size, "%s", failed ? failed : left);
        return !failed && !left;
    }
    snprintf(text, size, "C has no operation %s", name);
    return 0;
}
