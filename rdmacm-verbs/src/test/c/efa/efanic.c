// SPDX-License-Identifier: Apache-2.0
#include "efanic.h"

#include <endian.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <infiniband/verbs.h>

// The formats of the device: 64 bytes for a send, 16 for each part of a receive, 16 or 32 for a completion.
struct send_entry {
    uint16_t request;
    uint8_t control1;
    uint8_t control2;
    uint16_t destination;
    uint16_t length;
    uint32_t immediate;
    uint16_t address;
    uint8_t reserved1[2];
    uint32_t queue_key;
    uint8_t reserved2[12];
    uint8_t data[];
};

struct part {
    uint32_t bytes;
    uint32_t key;
    uint32_t address_low;
    uint32_t address_high;
};

struct receive_part {
    uint32_t address_low;
    uint32_t address_high;
    uint16_t request;
    uint16_t bytes;
    uint32_t key_and_control;
};

struct completion {
    uint16_t request;
    uint8_t status;
    uint8_t flags;
    uint16_t number;
    uint16_t length;
    uint16_t address;
    uint16_t source;
    uint32_t immediate;
    uint8_t extension[16];
};

enum { OP_SEND = 0, OP_READ = 1, OP_WRITE = 2 };
enum { HAS_IMMEDIATE = 1 << 4, IS_INLINE = 1 << 5, IS_META = 1 << 7 };
enum { PHASE = 1 << 0, IS_FIRST = 1 << 2, IS_LAST = 1 << 3, WANTS_COMPLETION = 1 << 4 };
enum { QUEUE_SEND = 1 << 1, QUEUE_RECEIVE = 2 << 1, COMPLETION_IMMEDIATE = 1 << 3, UNSOLICITED = 1 << 7 };
enum { KEY_MASK = 0xffffff, FIRST_PART = 1 << 30 };
#define LAST_PART (1u << 31)

enum status {
    OK = 0, FLUSHED = 1, UNSUPPORTED = 3, BAD_ADDRESS_HANDLE = 4, BAD_LOCAL_KEY = 5, BAD_LENGTH = 6,
    BAD_REMOTE_ADDRESS = 7, BAD_DESTINATION = 9, NOT_READY = 10, TOO_SHORT = 11, UNREACHABLE = 15,
    // not of the device: the request waits for a receive
    WAIT = 256,
    // not of the device: a datagram is lost
    LOST = 257
};

#define GRH_BYTES 40
#define RETRY_FOREVER 7
#define MOST_PARTS 4

struct efanic efanic;

struct efanic_mapping *efanic_map(size_t bytes) {
    for (struct efanic_mapping *mapping = efanic.mappings; mapping < efanic.mappings + EFANIC_MAPPINGS; mapping++) {
        if (mapping->memory) {
            continue;
        }
        size_t whole = (bytes + EFANIC_PAGE - 1) / EFANIC_PAGE * EFANIC_PAGE;
        int file = memfd_create("efa", MFD_CLOEXEC);
        if (file < 0) {
            return NULL;
        }
        void *memory = ftruncate(file, (off_t) whole) ? MAP_FAILED
                : mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (memory == MAP_FAILED) {
            close(file);
            return NULL;
        }
        *mapping = (struct efanic_mapping) { file, memory, whole };
        return mapping;
    }
    return NULL;
}

void efanic_unmap(struct efanic_mapping *mapping) {
    if (mapping && mapping->memory) {
        munmap(mapping->memory, mapping->bytes);
        close(mapping->file);
        memset(mapping, 0, sizeof *mapping);
    }
}

// A list of places in the memory of this process.
struct span {
    uint8_t *memory;
    uint32_t bytes;
};

static uint64_t address_of(uint32_t low, uint32_t high) {
    return (uint64_t) high << 32 | low;
}

static void *memory_at(uint32_t domain, uint32_t key, uint64_t address, uint64_t bytes, uint32_t access) {
    for (struct efanic_region *region = efanic.regions; region < efanic.regions + EFANIC_REGIONS; region++) {
        if (region->bytes && region->key == key && region->domain == domain && address >= region->address
                && bytes <= region->bytes && address - region->address <= region->bytes - bytes
                && (region->access & access) == access) {
            return (void *) (uintptr_t) address;
        }
    }
    return NULL;
}

static void copy(struct span *to, const struct span *from, uint32_t bytes) {
    uint32_t in = 0, out = 0;
    while (bytes) {
        while (in == from->bytes) {
            from++;
            in = 0;
        }
        while (out == to->bytes) {
            to++;
            out = 0;
        }
        uint32_t now = bytes;
        now = now < from->bytes - in ? now : from->bytes - in;
        now = now < to->bytes - out ? now : to->bytes - out;
        memcpy(to->memory + out, from->memory + in, now);
        in += now;
        out += now;
        bytes -= now;
    }
}

// The doorbell of a completion queue tells how many completions were taken, and arms the queue. A later write may have
// hidden one that armed it, so any write does: the event too many that this can cause does no harm.
static void look_at_doorbell(struct efanic_cq *cq) {
    uint32_t value = __atomic_exchange_n((uint32_t *) cq->doorbell->memory, 0, __ATOMIC_ACQ_REL);
    if (!value || cq->channel < 0) {
        return;
    }
    uint16_t left = (uint16_t) (cq->sub[0].produced + cq->sub[1].produced - value);
    cq->armed = left == 0;
    if (left) {
        efanic.notify(cq->channel, cq);
    }
}

static void complete(struct efanic_cq *cq, int sub, struct completion *what) {
    look_at_doorbell(cq);
    uint32_t position = cq->sub[sub].produced++;
    uint8_t phase = position / cq->entries % 2 ? 0 : PHASE;
    uint8_t *entry = cq->buffer->memory
            + ((size_t) sub * cq->entries + position % cq->entries) * cq->entry_bytes;
    uint8_t flags = what->flags | phase;
    // the byte with the phase last: it tells that the rest is there
    what->flags = flags ^ PHASE;
    memcpy(entry, what, cq->entry_bytes);
    __atomic_store_n(entry + offsetof(struct completion, flags), flags, __ATOMIC_RELEASE);
    if (cq->armed) {
        cq->armed = false;
        efanic.notify(cq->channel, cq);
    }
}

static void complete_send(struct efanic_qp *qp, const struct send_entry *entry, int status) {
    struct completion what = { .request = entry->request, .status = (uint8_t) status, .number = qp->number,
        .flags = (uint8_t) (QUEUE_SEND | (entry->control1 & 0xf) << 4) };
    complete(qp->send_cq, 0, &what);
}

// A receive that was posted: its parts, and how many entries they take.
struct receive {
    struct span parts[MOST_PARTS];
    uint32_t count;
    uint64_t bytes;
    uint16_t request;
    bool bad_key;
};

static bool next_receive(struct efanic_qp *qp, struct receive *next) {
    uint16_t doorbell = (uint16_t) __atomic_load_n((uint32_t *) qp->receive_doorbell->memory, __ATOMIC_ACQUIRE);
    memset(next, 0, sizeof *next);
    const struct receive_part *ring = (const struct receive_part *) qp->receives->memory;
    while ((uint16_t) (doorbell - (qp->received + next->count)) && next->count < MOST_PARTS) {
        const struct receive_part *part = ring + (qp->received + next->count) % qp->receive_entries;
        if (next->count == 0) {
            next->request = part->request;
        }
        if (!(part->key_and_control & FIRST_PART) != (next->count > 0)) {
            efanic.bad_entries++;
        }
        uint64_t address = address_of(part->address_low, part->address_high);
        void *memory = memory_at(qp->domain, part->key_and_control & KEY_MASK, address, part->bytes,
                IBV_ACCESS_LOCAL_WRITE);
        next->bad_key |= !memory && part->bytes;
        next->parts[next->count++] = (struct span) { memory, part->bytes };
        next->bytes += part->bytes;
        if (part->key_and_control & LAST_PART) {
            return true;
        }
    }
    return false;
}

static void complete_receive(struct efanic_qp *qp, struct efanic_qp *from, const struct send_entry *entry,
        uint16_t request, uint32_t bytes, uint8_t flags) {
    uint16_t known = EFANIC_NO_ADDRESS;
    for (int i = 0; i < EFANIC_ADDRESSES; i++) {
        struct efanic_address *address = efanic.addresses + i;
        if (address->used && address->domain == qp->domain && !memcmp(address->gid, efanic.gid, sizeof efanic.gid)) {
            known = (uint16_t) i;
        }
    }
    struct completion what = { .request = request, .number = qp->number, .length = (uint16_t) bytes,
        .flags = (uint8_t) (QUEUE_RECEIVE | (entry->control1 & 0xf) << 4 | flags), .address = known,
        .source = from->number, .immediate = entry->immediate };
    if (entry->control1 & HAS_IMMEDIATE) {
        what.flags |= COMPLETION_IMMEDIATE;
    }
    if ((entry->control1 & 0xf) == OP_WRITE) {
        uint16_t high = (uint16_t) (bytes >> 16);
        memcpy(what.extension, &high, sizeof high);
    } else if (known == EFANIC_NO_ADDRESS) {
        memcpy(what.extension, efanic.gid, sizeof efanic.gid);
    }
    complete(qp->receive_cq, 1, &what);
}

static int gather(struct efanic_qp *qp, const struct send_entry *entry, const struct part *parts, uint32_t count,
        uint32_t access, struct span *spans, uint64_t *bytes) {
    *bytes = 0;
    if (entry->control1 & IS_INLINE) {
        uint32_t offset = (entry->control1 & 0xf) == OP_SEND ? 0 : sizeof(struct part);
        spans[0] = (struct span) { (uint8_t *) entry->data + offset, entry->length };
        *bytes = entry->length;
        return OK;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint64_t address = address_of(parts[i].address_low, parts[i].address_high);
        void *memory = memory_at(qp->domain, parts[i].key & KEY_MASK, address, parts[i].bytes, access);
        if (!memory && parts[i].bytes) {
            return BAD_LOCAL_KEY;
        }
        spans[i] = (struct span) { memory, parts[i].bytes };
        *bytes += parts[i].bytes;
    }
    return OK;
}

static struct efanic_qp *destination_of(struct efanic_qp *qp, const struct send_entry *entry, int *status) {
    struct efanic_address *address = efanic.addresses + entry->address;
    if (entry->address >= EFANIC_ADDRESSES || !address->used || address->domain != qp->domain) {
        *status = BAD_ADDRESS_HANDLE;
        return NULL;
    }
    if (memcmp(address->gid, efanic.gid, sizeof efanic.gid)) {
        *status = UNREACHABLE;
        return NULL;
    }
    for (struct efanic_qp *to = efanic.qps; to < efanic.qps + EFANIC_QUEUE_PAIRS; to++) {
        if (to->used && to->number == entry->destination && to->type == qp->type
                && to->queue_key == entry->queue_key && (to->state == IBV_QPS_RTR || to->state == IBV_QPS_RTS)) {
            return to;
        }
    }
    *status = BAD_DESTINATION;
    return NULL;
}

static int send_message(struct efanic_qp *qp, struct efanic_qp *to, const struct send_entry *entry) {
    struct span from[MOST_PARTS];
    uint64_t bytes;
    int status = gather(qp, entry, (const struct part *) entry->data, entry->length, 0, from, &bytes);
    if (status != OK) {
        return status;
    }
    if (bytes > EFANIC_MAX_MESSAGE) {
        return BAD_LENGTH;
    }
    struct receive receive;
    if (!next_receive(to, &receive)) {
        return qp->type == EFANIC_UD ? LOST : qp->rnr_retry == RETRY_FOREVER ? WAIT : NOT_READY;
    }
    uint32_t header = qp->type == EFANIC_UD ? GRH_BYTES : 0;
    if (receive.bad_key || receive.bytes < bytes + header) {
        return qp->type == EFANIC_UD ? LOST : TOO_SHORT;
    }
    to->received += receive.count;
    struct span message[MOST_PARTS + 1] = { { (uint8_t[GRH_BYTES]) { 0 }, header } };
    memcpy(message + (header ? 1 : 0), from, sizeof from);
    copy(receive.parts, message, (uint32_t) bytes + header);
    complete_receive(to, qp, entry, receive.request, (uint32_t) bytes + header, 0);
    return OK;
}

static int access_memory(struct efanic_qp *qp, struct efanic_qp *to, const struct send_entry *entry, bool write) {
    const struct part *remote = (const struct part *) entry->data;
    struct span local[MOST_PARTS];
    uint64_t bytes;
    int status = gather(qp, entry, remote + 1, entry->length, write ? 0 : IBV_ACCESS_LOCAL_WRITE, local, &bytes);
    if (status != OK) {
        return status;
    }
    if (bytes > EFANIC_MAX_RDMA || bytes != remote->bytes) {
        return BAD_LENGTH;
    }
    uint64_t address = address_of(remote->address_low, remote->address_high);
    void *memory = memory_at(to->domain, remote->key, address, bytes,
            write ? IBV_ACCESS_REMOTE_WRITE : IBV_ACCESS_REMOTE_READ);
    if (!memory && bytes) {
        return BAD_REMOTE_ADDRESS;
    }
    struct receive receive = { .count = 0 };
    bool consumes = write && (entry->control1 & HAS_IMMEDIATE) && !to->unsolicited;
    if (consumes && !next_receive(to, &receive)) {
        return qp->rnr_retry == RETRY_FOREVER ? WAIT : NOT_READY;
    }
    struct span there = { memory, (uint32_t) bytes };
    if (write) {
        copy(&there, local, (uint32_t) bytes);
    } else {
        copy(local, &there, (uint32_t) bytes);
    }
    if (write && (entry->control1 & HAS_IMMEDIATE)) {
        to->received += receive.count;
        complete_receive(to, qp, entry, receive.request, (uint32_t) bytes, consumes ? 0 : UNSOLICITED);
    }
    return OK;
}

static int execute(struct efanic_qp *qp, const struct send_entry *entry) {
    if (efanic.forced_count > 0) {
        efanic.forced_count--;
        return efanic.forced_status;
    }
    int status = OK;
    struct efanic_qp *to = destination_of(qp, entry, &status);
    if (!to) {
        return qp->type == EFANIC_UD && status != BAD_ADDRESS_HANDLE ? LOST : status;
    }
    int operation = entry->control1 & 0xf;
    if (operation == OP_SEND) {
        return send_message(qp, to, entry);
    }
    if (qp->type == EFANIC_UD || operation > OP_WRITE) {
        return UNSUPPORTED;
    }
    return access_memory(qp, to, entry, operation == OP_WRITE);
}

static const struct send_entry *next_send(struct efanic_qp *qp) {
    uint16_t doorbell = (uint16_t) __atomic_load_n((uint32_t *) qp->send_doorbell->memory, __ATOMIC_ACQUIRE);
    if (!(uint16_t) (doorbell - qp->sent)) {
        return NULL;
    }
    return (const struct send_entry *) (qp->sends->memory
            + (size_t) (qp->sent % qp->send_entries) * qp->send_bytes);
}

static void pass(struct efanic_qp *qp) {
    qp->sent++;
    if (qp->sent % qp->send_entries == 0) {
        qp->phase ^= PHASE;
    }
}

static bool step(struct efanic_qp *qp) {
    const struct send_entry *entry = next_send(qp);
    if (!entry) {
        return false;
    }
    int status = execute(qp, entry);
    if (status == WAIT) {
        return false;
    }
    if (!(entry->control1 & IS_META)
            || entry->control2 != (IS_FIRST | IS_LAST | WANTS_COMPLETION | qp->phase)) {
        efanic.bad_entries++;
    }
    memcpy(efanic.traces[efanic.taken++ % EFANIC_TRACES], entry, qp->send_bytes);
    pass(qp);
    complete_send(qp, entry, status == LOST ? OK : status);
    return true;
}

bool efanic_step(void) {
    for (struct efanic_cq *cq = efanic.cqs; cq < efanic.cqs + EFANIC_COMPLETION_QUEUES; cq++) {
        if (cq->used) {
            look_at_doorbell(cq);
        }
    }
    for (struct efanic_qp *qp = efanic.qps; qp < efanic.qps + EFANIC_QUEUE_PAIRS; qp++) {
        if (qp->used && qp->state == IBV_QPS_RTS && step(qp)) {
            return true;
        }
    }
    return false;
}

void efanic_flush(struct efanic_qp *qp) {
    const struct send_entry *entry;
    while ((entry = next_send(qp))) {
        pass(qp);
        complete_send(qp, entry, FLUSHED);
    }
    struct receive receive;
    while (next_receive(qp, &receive)) {
        qp->received += receive.count;
        struct completion what = { .request = receive.request, .status = FLUSHED, .flags = QUEUE_RECEIVE,
            .number = qp->number, .address = EFANIC_NO_ADDRESS };
        complete(qp->receive_cq, 1, &what);
    }
}

void efanic_reset(struct efanic_qp *qp) {
    qp->sent = 0;
    qp->received = 0;
    __atomic_store_n((uint32_t *) qp->send_doorbell->memory, 0, __ATOMIC_RELEASE);
    __atomic_store_n((uint32_t *) qp->receive_doorbell->memory, 0, __ATOMIC_RELEASE);
}
