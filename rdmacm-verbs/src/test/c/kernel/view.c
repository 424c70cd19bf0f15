// SPDX-License-Identifier: Apache-2.0
/* What the card can see: the queues, their doorbell records and the registers, as text that tests compare. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "mlx5.h"

#define SEGMENT 16
#define DOORBELL_RECORD 8
#define SHARED_DOORBELL_RECORD 4   // counts receives only
#define BLOCK 64

static char *text;
static size_t room;

static void line(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, room, format, arguments);
    va_end(arguments);
    size_t written = (size_t)length < room ? (size_t)length : room;
    text += written;
    room -= written;
}

/* A line for each segment that is not zero. */
static void segments(const char *what, uint32_t number, const volatile void *memory, size_t bytes) {
    static const uint8_t zero[SEGMENT];
    for (size_t at = 0; at < bytes; at += SEGMENT) {
        size_t count = bytes - at < SEGMENT ? bytes - at : SEGMENT;
        uint8_t segment[SEGMENT];
        memcpy(segment, (const uint8_t *)memory + at, count);
        if (!memcmp(segment, zero, count)) continue;
        line("%s %06x +%04zx:", what, number, at);
        for (size_t i = 0; i < count; i++) line("%s%02x", i % 4 ? "" : " ", segment[i]);
        line("\n");
    }
}

static void receives(const char *what, uint32_t number, const struct receives *queue) {
    segments(what, number, queue->entries, (size_t)queue->count << queue->shift);
}

static void queue_pair(uint32_t handle, struct object *one) {
    const struct queue_pair *pair = one->state;
    (void)handle;
    if (one->device != &mlx5_device || !pair || pair->dct) return;
    segments("sends of queue pair", pair->number, pair->sends, (size_t)pair->send_count * BLOCK);
    receives("receives of queue pair", pair->number, &pair->receives);
    segments("doorbell record of queue pair", pair->number, pair->doorbell, DOORBELL_RECORD);
}

static void shared_receives(uint32_t handle, struct object *one) {
    const struct receives *queue = one->state;
    if (one->device != &mlx5_device || !queue) return;
    receives("receives of shared queue", handle, queue);
    segments("doorbell record of shared queue", handle, queue->doorbell, SHARED_DOORBELL_RECORD);
}

static void completions(uint32_t handle, struct object *one) {
    const struct completions *queue = one->state;
    if (one->device != &mlx5_device || !queue) return;
    segments("doorbell record of completion queue", handle, queue->doorbell, DOORBELL_RECORD);
}

/* For the tests: writes all that the card can see; returns whether there was room. */
int kernel_view(char *bytes, size_t size) {
    lock();
    text = bytes;
    room = size;
    each_object(QP, queue_pair);
    each_object(SRQ, shared_receives);
    each_object(CQ, completions);
    for (uint32_t page = 0; page < REGISTER_PAGES; page++) {
        const uint8_t *registers = mlx5_registers(page);
        if (registers) segments("registers of page", page, registers, REGISTER_PAGE);
    }
    bool all = room > 0;
    unlock();
    return all;
}
