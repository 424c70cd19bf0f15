// SPDX-License-Identifier: Apache-2.0
/* What the kernel does for every device: contexts, objects and their order, completion channels, events. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "kernel.h"

#define EX(command) (IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_##command)
#define METHOD(object, method) ((uint32_t)(object) << 16 | (uint32_t)(method))
// Attribute 0 of a method that destroys names the object.
#define DESTROYED 0

const struct device *const devices[] = {&mlx5_device, NULL};

static pthread_mutex_t all = PTHREAD_MUTEX_INITIALIZER;

void lock(void) { pthread_mutex_lock(&all); }
void unlock(void) { pthread_mutex_unlock(&all); }

/* Where the asynchronous events of an open file go. */
#define CONTEXTS 64
static struct { int file, read_end, write_end; } contexts[CONTEXTS];

static int open_pipe(int *write_end) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) return -1;
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    *write_end = ends[1];
    return ends[0];
}

static int async_events(struct request *request) {
    for (unsigned i = 0; i < CONTEXTS; i++) {
        if (contexts[i].write_end) continue;
        int read_end = open_pipe(&contexts[i].write_end);
        if (read_end < 0) return EMFILE;
        contexts[i].file = request->file;
        contexts[i].read_end = read_end;
        set_data(request, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, (uint64_t)read_end);
        return 0;
    }
    return EMFILE;
}

static void raise_async(uint32_t type, uint64_t element, int file) {
    struct ib_uverbs_async_event_desc event = {.element = element, .event_type = type};
    for (unsigned i = 0; i < CONTEXTS; i++) {
        if (contexts[i].write_end && (file < 0 || contexts[i].file == file)) {
            if (write(contexts[i].write_end, &event, sizeof event) < 0) abort();
        }
    }
}

/* An event of a queue. */
void raise_for(struct object *one, uint32_t type) {
    one->async_events++;
    raise_async(type, one->user_handle, one->file);
}

/* Takes the events of an object that nobody has read out of its context; returns how many there were. */
static uint32_t withdraw_events(const struct object *one) {
    uint32_t withdrawn = 0;
    for (unsigned i = 0; i < CONTEXTS; i++) {
        if (!contexts[i].write_end || contexts[i].file != one->file) continue;
        int bytes = 0;
        ioctl(contexts[i].read_end, FIONREAD, &bytes);
        struct ib_uverbs_async_event_desc event;
        for (int left = bytes / (int)sizeof event; left > 0; left--) {
            if (read(contexts[i].read_end, &event, sizeof event) != sizeof event) break;
            if (event.element == one->user_handle) {
                withdrawn++;
            } else if (write(contexts[i].write_end, &event, sizeof event) < 0) {
                abort();
            }
        }
    }
    return withdrawn;
}

static struct { uint64_t user_handle; struct object *one; } wanted;

static void find_wanted(uint32_t handle, struct object *one) {
    (void)handle;
    if (one->user_handle == wanted.user_handle) wanted.one = one;
}

/* For the tests: an event of the queue of that address in the program. Returns whether there is one. */
int kernel_raise_for(uint32_t type, uint64_t user_handle) {
    lock();
    wanted.user_handle = user_handle;
    wanted.one = NULL;
    each_object(QP, find_wanted);
    each_object(CQ, find_wanted);
    if (wanted.one) raise_for(wanted.one, type);
    int found = wanted.one != NULL;
    unlock();
    return found;
}

static void take_newest(uint32_t handle, struct object *one) {
    (void)handle;
    wanted.one = one;
}

/* For the tests: an event of the completion queue or queue pair that was created last, if none has been destroyed. */
int kernel_raise_for_newest(uint32_t type) {
    lock();
    wanted.one = NULL;
    each_object(type == IBV_EVENT_CQ_ERR ? CQ : QP, take_newest);
    if (wanted.one) raise_for(wanted.one, type);
    int found = wanted.one != NULL;
    unlock();
    return found;
}

/* For the tests: an event of the devices or their ports. */
void kernel_raise(uint32_t type, uint64_t element) {
    lock();
    raise_async(type, element, -1);
    unlock();
}

static int create(struct request *request, enum kind kind, uint32_t handle) {
    int error = request->device->create ? request->device->create(request, kind, handle) : 0;
    if (error) destroy_object(handle, kind);
    return error;
}

/* Who has to outlive an object: the attribute that names it, which may be missing, and its kind. */
struct parent {
    unsigned attribute;
    enum kind kind;
};

static uint64_t user_handle_of(const struct request *request, enum kind kind) {
    switch (kind) {
    case CQ: return in64(request, UVERBS_ATTR_CREATE_CQ_USER_HANDLE);
    case QP: return in64(request, UVERBS_ATTR_CREATE_QP_USER_HANDLE);
    case SRQ: return in64(request, UVERBS_ATTR_CREATE_SRQ_USER_HANDLE);
    default: return 0;
    }
}

static int create_below(struct request *request, enum kind kind, unsigned id, unsigned count,
        const struct parent *parents) {
    uint32_t handle = add_object(request, kind);
    object(handle, kind)->user_handle = user_handle_of(request, kind);
    for (unsigned i = 0; i < count; i++) {
        if (!attribute(request, parents[i].attribute)) continue;
        int error = depend(handle, in32(request, parents[i].attribute), parents[i].kind);
        if (error) {
            destroy_object(handle, kind);
            return error;
        }
    }
    int error = create(request, kind, handle);
    if (!error) set_data(request, id, handle);
    return error;
}

#define CREATE(request, kind, id, ...) create_below(request, kind, id, \
        sizeof((struct parent[]){__VA_ARGS__}) / sizeof(struct parent), (struct parent[]){__VA_ARGS__})

static int create_in_domain(struct request *request, enum kind kind, uint32_t domain, uint32_t *handle) {
    *handle = add_object(request, kind);
    int error = depend(*handle, domain, PD);
    if (error) {
        destroy_object(*handle, kind);
        return error;
    }
    return create(request, kind, *handle);
}

/* The other ends of the completion channels, by the file that the process has. */
static int channels[FILES];

static int create_channel(struct request *request) {
    int write_end, read_end = open_pipe(&write_end);
    if (read_end < 0 || read_end >= FILES) return EMFILE;
    channels[read_end] = write_end;
    ANSWER(request, struct ib_uverbs_create_comp_channel_resp, {(uint32_t)read_end});
    return 0;
}

/* The process has closed a file: nobody reads the other end of a pipe any more. */
void closed(int file) {
    if (channels[file]) {
        int write_end = channels[file];
        channels[file] = 0;
        close(write_end);
    }
    for (unsigned i = 0; i < CONTEXTS; i++) {
        if (contexts[i].write_end && contexts[i].read_end == file) {
            int write_end = contexts[i].write_end;
            contexts[i].write_end = 0;
            close(write_end);
        }
    }
}

void raise_completion(uint32_t channel, uint64_t user_handle) {
    struct ib_uverbs_comp_event_desc event = {user_handle};
    if (channels[channel] && write(channels[channel], &event, sizeof event) < 0) abort();
}

static int write_command(struct request *request) {
    uint32_t handle;
    int error = 0;
    switch (request->command) {
    case IB_USER_VERBS_CMD_QUERY_DEVICE: {
        struct ib_uverbs_query_device_resp answer = {0};
        request->device->device_attributes(&answer);
        out(request, UVERBS_ATTR_CORE_OUT, &answer, sizeof answer);
        return 0;
    }
    case EX(QUERY_DEVICE): {
        struct ib_uverbs_ex_query_device_resp answer = {.response_length = sizeof answer,
            .max_dm_size = 1 << 18};
        request->device->device_attributes(&answer.base);
        out(request, UVERBS_ATTR_CORE_OUT, &answer, sizeof answer);
        request->device->driver_device_attributes(request);
        return 0;
    }
    case IB_USER_VERBS_CMD_ALLOC_PD:
        handle = add_object(request, PD);
        ANSWER(request, struct ib_uverbs_alloc_pd_resp, {handle});
        return create(request, PD, handle);
    case IB_USER_VERBS_CMD_REG_MR:
        error = create_in_domain(request, MR, COMMAND(request, struct ib_uverbs_reg_mr)->pd_handle, &handle);
        return error;
    case IB_USER_VERBS_CMD_ALLOC_MW:
        error = create_in_domain(request, MW, COMMAND(request, struct ib_uverbs_alloc_mw)->pd_handle, &handle);
        return error;
    case IB_USER_VERBS_CMD_CREATE_AH:
        error = create_in_domain(request, AH, COMMAND(request, struct ib_uverbs_create_ah)->pd_handle, &handle);
        if (!error) ANSWER(request, struct ib_uverbs_create_ah_resp, {handle});
        return error;
    case IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL:
        return create_channel(request);
    case IB_USER_VERBS_CMD_MODIFY_QP: {
        const struct ib_uverbs_modify_qp *wanted = COMMAND(request, struct ib_uverbs_modify_qp);
        return request->device->modify_qp(request, wanted->qp_handle, wanted);
    }
    case EX(MODIFY_QP): {
        const struct ib_uverbs_modify_qp *wanted = &COMMAND(request, struct ib_uverbs_ex_modify_qp)->base;
        ANSWER(request, struct ib_uverbs_ex_modify_qp_resp, {.response_length = sizeof value_});
        return request->device->modify_qp(request, wanted->qp_handle, wanted);
    }
    }
    return request->device->other(request);
}

/* Answers how many of its events were read; those of completions come first. */
static int destroy(struct request *request, enum kind kind, unsigned answered) {
    uint32_t handle = in32(request, DESTROYED);
    struct object *one = object(handle, kind);
    if (!one) return EINVAL;
    struct object before = *one;
    int error = destroy_object(handle, kind);
    if (error || !answered) return error;
    uint32_t asynchronous = before.async_events - withdraw_events(&before);
    uint32_t events[2] = {kind == CQ ? before.completion_events : asynchronous, asynchronous};
    out(request, answered, events, kind == CQ ? sizeof events : sizeof *events);
    return 0;
}

int handle_request(struct request *request) {
    const struct ib_uverbs_ioctl_hdr *header = request->header;
    switch (METHOD(header->object_id, header->method_id)) {
    case METHOD(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE):
        return write_command(request);
    case METHOD(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT):
        OUT(request, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, uint32_t, 4);
        OUT(request, UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, uint64_t, IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS);
        return request->device->get_context(request);
    case METHOD(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT): {
        struct ib_uverbs_query_port_resp_ex answer = {.legacy_resp = {.port_cap_flags = 1 << 26,
            .max_msg_sz = 1 << 30, .gid_tbl_len = 1, .pkey_tbl_len = 1, .state = 4, .max_mtu = 5, .active_mtu = 5,
            .max_vl_num = 1, .active_width = 2, .active_speed = 32, .phys_state = 5, .link_layer = 2}};
        out(request, UVERBS_ATTR_QUERY_PORT_RESP, &answer, sizeof answer);
        return 0;
    }
    case METHOD(UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC):
        return async_events(request);
    case METHOD(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE):
        return create_below(request, CQ, UVERBS_ATTR_CREATE_CQ_HANDLE, 0, NULL);
    case METHOD(UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE):
        return CREATE(request, SRQ, UVERBS_ATTR_CREATE_SRQ_HANDLE, {UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, PD},
                {UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE, CQ});
    case METHOD(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE):
        return CREATE(request, QP, UVERBS_ATTR_CREATE_QP_HANDLE, {UVERBS_ATTR_CREATE_QP_PD_HANDLE, PD},
                {UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, SRQ}, {UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, CQ},
                {UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, CQ});
    case METHOD(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY):
        return destroy(request, QP, UVERBS_ATTR_DESTROY_QP_RESP);
    case METHOD(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY):
        return destroy(request, CQ, UVERBS_ATTR_DESTROY_CQ_RESP);
    case METHOD(UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_DESTROY):
        return destroy(request, SRQ, UVERBS_ATTR_DESTROY_SRQ_RESP);
    case METHOD(UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY):
        return destroy(request, MR, 0);
    case METHOD(UVERBS_OBJECT_MW, UVERBS_METHOD_MW_DESTROY):
        return destroy(request, MW, 0);
    case METHOD(UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY):
        return destroy(request, PD, 0);
    case METHOD(UVERBS_OBJECT_AH, UVERBS_METHOD_AH_DESTROY):
        return destroy(request, AH, 0);
    }
    int error = request->device->other(request);
    return error == ENOPROTOOPT ? EPROTONOSUPPORT : error;
}
