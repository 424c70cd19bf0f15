// SPDX-License-Identifier: Apache-2.0
/* The objects of the kernel. One that others were made from cannot be destroyed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

#define OBJECTS 65536
#define FIRST_NUMBER 0x100

static struct object objects[OBJECTS];
static uint32_t last_handle, handles;   // the last one given, and one more than the highest
static uint32_t last_number = FIRST_NUMBER;

uint32_t next_number(void) {
    return ++last_number & 0xffffff;
}

uint32_t add_object(const struct request *request, enum kind kind) {
    for (last_handle = 1; last_handle < OBJECTS; last_handle++) {
        struct object *free_one = &objects[last_handle];
        if (!free_one->live) {
            if (handles <= last_handle) handles = last_handle + 1;
            *free_one = (struct object){
                .kind = kind, .device = request->device, .file = request->file, .live = true};
            return last_handle;
        }
    }
    abort();
}

struct object *object(uint32_t handle, enum kind kind) {
    struct object *found = handle < OBJECTS ? &objects[handle] : NULL;
    return found && found->live && found->kind == kind ? found : NULL;
}

void *state_of(uint32_t handle, enum kind kind) {
    struct object *found = object(handle, kind);
    return found ? found->state : NULL;
}

/* Has the parent outlive the object. */
int depend(uint32_t handle, uint32_t parent, enum kind kind) {
    struct object *above = object(parent, kind);
    if (!above) return EINVAL;
    struct object *child = &objects[handle];
    for (unsigned i = 0; i < sizeof child->parents / sizeof *child->parents; i++) {
        if (!child->parents[i]) {
            child->parents[i] = parent;
            above->uses++;
            return 0;
        }
    }
    abort();
}

static void remove_object(struct object *one) {
    for (unsigned i = 0; i < sizeof one->parents / sizeof *one->parents; i++) {
        if (one->parents[i]) objects[one->parents[i]].uses--;
    }
    if (one->device->destroyed) one->device->destroyed(one->kind, (uint32_t)(one - objects));
    free(one->state);
    one->live = false;
}

int destroy_object(uint32_t handle, enum kind kind) {
    struct object *one = object(handle, kind);
    if (!one) return EINVAL;
    if (one->uses) return EBUSY;
    remove_object(one);
    return 0;
}

/* What a process leaves behind is destroyed with its file. */
void close_file(int file) {
    bool more = true;
    while (more) {
        more = false;
        for (struct object *one = objects; one < objects + handles; one++) {
            if (one->live && one->file == file && !one->uses) {
                remove_object(one);
                more = true;
            }
        }
    }
}

unsigned live_objects(void) {
    unsigned count = 0;
    for (unsigned i = 0; i < handles; i++) count += objects[i].live;
    return count;
}

void each_object(enum kind kind, void (*visit)(uint32_t, struct object *)) {
    for (uint32_t i = 1; i < handles; i++) {
        if (objects[i].live && objects[i].kind == kind) visit(i, &objects[i]);
    }
}

/* For the tests: numbers start again, as they did in a new process; not while there are objects. */
int kernel_restart(void) {
    lock();
    bool empty = !live_objects();
    if (empty) last_number = FIRST_NUMBER;
    unlock();
    return empty;
}

/* For the tests: how many objects there are. */
unsigned kernel_objects(void) {
    lock();
    unsigned count = live_objects();
    unlock();
    return count;
}
