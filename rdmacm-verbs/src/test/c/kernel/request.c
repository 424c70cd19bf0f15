// SPDX-License-Identifier: Apache-2.0
/* Requests: their attributes, the note that is kept of each, and those that the test wants refused. */
#include <errno.h>
#include <string.h>

#include "kernel.h"

#define NOTES 4096
#define ANY 0xffffffff

struct note {
    uint32_t object, method;
};

static struct note notes[NOTES];
static unsigned noted;
static struct {
    uint32_t object, method;
    int error;
    unsigned after;
} refusal;

const struct ib_uverbs_attr *attribute(const struct request *request, unsigned id) {
    for (unsigned i = 0; i < request->header->num_attrs; i++) {
        if (request->header->attrs[i].attr_id == id) return &request->header->attrs[i];
    }
    return NULL;
}

/* Returns what a pointer names, or data of up to 8 bytes; NULL without the attribute or if it is shorter. */
const void *in(const struct request *request, unsigned id, size_t size) {
    const struct ib_uverbs_attr *found = attribute(request, id);
    if (!found || found->len < size) return NULL;
    return found->len <= sizeof found->data ? (const void *)&found->data : (const void *)(uintptr_t)found->data;
}

uint32_t in32(const struct request *request, unsigned id) {
    const struct ib_uverbs_attr *found = attribute(request, id);
    return found ? (uint32_t)found->data : 0;
}

uint64_t in64(const struct request *request, unsigned id) {
    const struct ib_uverbs_attr *found = attribute(request, id);
    return found ? found->data : 0;
}

void out(const struct request *request, unsigned id, const void *value, size_t size) {
    struct ib_uverbs_attr *found = (struct ib_uverbs_attr *)attribute(request, id);
    if (!found) return;
    void *memory = (void *)(uintptr_t)found->data;
    memset(memory, 0, found->len);
    memcpy(memory, value, size < found->len ? size : found->len);
    found->flags |= UVERBS_ATTR_F_VALID_OUTPUT;
}

void set_data(const struct request *request, unsigned id, uint64_t data) {
    struct ib_uverbs_attr *found = (struct ib_uverbs_attr *)attribute(request, id);
    if (!found) return;
    found->data = data;
    found->flags |= UVERBS_ATTR_F_VALID_OUTPUT;
}

/* Commands of the write interface are noted as methods of the object ANY. */
static int refused(uint32_t object, uint32_t method) {
    notes[noted++ % NOTES] = (struct note){object, method};
    if (!refusal.error || refusal.object != object || refusal.method != method) return 0;
    if (refusal.after-- > 0) return 0;
    int error = refusal.error;
    refusal.error = 0;
    return error;
}

int answer(const struct device *device, int file, struct ib_uverbs_ioctl_hdr *header) {
    struct request request = {.header = header, .device = device, .file = file};
    uint32_t object = header->object_id, method = header->method_id;
    if (object == UVERBS_OBJECT_DEVICE && method == UVERBS_METHOD_INVOKE_WRITE) {
        request.command = in32(&request, UVERBS_ATTR_WRITE_CMD);
        object = ANY;
        method = request.command;
    }
    int error = refused(object, method);
    return error ? error : handle_request(&request);
}

/* For the tests: how often something was requested. */
unsigned kernel_requests(uint32_t object, uint32_t method) {
    lock();
    unsigned count = 0;
    for (unsigned i = 0; i < noted && i < NOTES; i++) {
        if (notes[i].object == object && notes[i].method == method) count++;
    }
    unlock();
    return count;
}

/* For the tests: refuses such a request, after some that are answered. */
void kernel_refuse(uint32_t object, uint32_t method, unsigned after, int error) {
    lock();
    refusal.object = object;
    refusal.method = method;
    refusal.after = after;
    refusal.error = error;
    unlock();
}
