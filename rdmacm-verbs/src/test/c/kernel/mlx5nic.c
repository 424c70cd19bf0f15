// SPDX-License-Identifier: Apache-2.0
/* The card mlx5_0: executes the entries of send queues as the manual of the card says, and writes completions. */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>

#include "mlx5.h"

#define BLOCK 64                  // what the entries of a send queue are counted in
#define UNIT 16                   // what the length of an entry is counted in
#define INLINE 0x80000000u
#define RNR_PATIENCE 2000         // turns of the thread
#define SYNDROME 55               // its place in a completion with an error
#define NONE 0
#define GLOBAL_ROUTE 40          // bytes before a datagram

/* A request that is being executed: its entry, the rest of it, and the data that it gathers. */
struct execution {
    struct queue_pair *pair;
    uint8_t *entry;
    const struct mlx5_wqe_ctrl_seg *control;
    uint8_t *next;                // what has not been read yet
    uint8_t *end;
    uint8_t *wrap;                // the end of the queue, after which it goes on at its start
    uint8_t *data;
    uint32_t bytes;
};

static uint8_t buffer[1 << 24];
static uint8_t flat[1024];

static struct completions *completions_of(uint32_t handle) { return state_of(handle, CQ); }

/* ---- memory ---- */

static uint8_t *plain(const struct memory_key *key, uint64_t address, uint32_t bytes) {
    if (address < key->start || address - key->start > key->length || bytes > key->length - (address - key->start)) {
        return NULL;
    }
    return key->memory + (address - key->start);
}

/* Moves bytes between a buffer and what a key names. Returns whether the key allows it. */
static bool access_memory(uint32_t name, uint64_t address, uint8_t *bytes, uint32_t count, bool write,
        uint32_t access, uint32_t domain) {
    struct memory_key *key = mlx5_key(name);
    if (!count) return true;
    if (!key || (access & ~key->access) || (domain && key->domain && key->domain != domain)) return false;
    if (!key->parts) {
        uint8_t *memory = key->memory ? plain(key, address, count) : NULL;
        if (!memory) return false;
        memcpy(write ? memory : bytes, write ? bytes : memory, count);
        return true;
    }
    // Interleaved or listed: the offset counts what the key selects, not what lies between.
    uint64_t offset = address - key->start, rounds = key->repetitions ? key->repetitions : 1, at = 0;
    for (uint64_t round = 0; round < rounds && count; round++) {
        for (unsigned i = 0; i < key->parts && count; i++) {
            const struct part *part = &key->part[i];
            uint64_t skip = offset > at ? offset - at : 0;
            if (skip < part->bytes) {
                uint32_t now = part->bytes - skip < count ? part->bytes - (uint32_t)skip : count;
                uint64_t where = part->address + round * (uint64_t)part->stride + skip;
                if (!access_memory(part->key, where, bytes, now, write, 0, NONE)) return false;
                bytes += now;
                count -= now;
                offset += now;
            }
            at += part->bytes;
        }
    }
    return count == 0;
}

/* ---- completions ---- */

static void notify(struct completions *queue) {
    uint32_t arming = queue->doorbell[1];
    if (queue->channel && arming != queue->served) {
        uint32_t consumed = be32toh(arming) & 0xffffff;
        if ((queue->produced & 0xffffff) != consumed) {
            queue->served = arming;
            object(queue->handle, CQ)->completion_events++;
            raise_completion(queue->channel, queue->user_handle);
        }
    }
}

static void complete(uint32_t handle, const struct mlx5_cqe64 *what, uint8_t opcode) {
    struct completions *queue = completions_of(handle);
    if (!queue) return;
    uint8_t *entry = queue->entries + (size_t)(queue->produced & (queue->count - 1)) * queue->size;
    struct mlx5_cqe64 *last = (struct mlx5_cqe64 *)(entry + queue->size - sizeof *last);
    uint8_t owner = queue->produced & queue->count ? 1 : 0;
    memcpy(last, what, offsetof(struct mlx5_cqe64, op_own));
    __atomic_store_n(&last->op_own, (uint8_t)(opcode << 4 | owner), __ATOMIC_RELEASE);
    queue->produced++;
    notify(queue);
}

static void sent(const struct execution *what, uint32_t bytes) {
    if (!(what->control->fm_ce_se & MLX5_WQE_CTRL_CQ_UPDATE)) return;
    struct mlx5_cqe64 done = {
        .srqn_uidx = htobe32(what->pair->user_index), .byte_cnt = htobe32(bytes),
        .sop_drop_qpn = htobe32(be32toh(what->control->opmod_idx_opcode) << 24 | what->pair->number),
        .wqe_counter = htobe16(be32toh(what->control->opmod_idx_opcode) >> 8 & 0xffff)};
    complete(what->pair->send_completions, &done, MLX5_CQE_REQ);
}

static void failed(uint32_t handle, const struct queue_pair *pair, uint16_t counter, uint8_t opcode, uint8_t syndrome) {
    struct mlx5_cqe64 done = {.srqn_uidx = htobe32(pair->user_index), .sop_drop_qpn = htobe32(pair->number),
        .wqe_counter = htobe16(counter)};
    ((uint8_t *)&done)[SYNDROME] = syndrome;
    complete(handle, &done, opcode);
}

/* The queue pair enters the error state with this request, and its others are flushed. */
static void fail(const struct execution *what, uint8_t syndrome) {
    failed(what->pair->send_completions, what->pair, be32toh(what->control->opmod_idx_opcode) >> 8 & 0xffff,
            MLX5_CQE_REQ_ERR, syndrome);
    what->pair->state = ERR;
}

/* The peer refuses the request, and enters the error state as well, if it is of one connection. */
static void refuse(const struct execution *what, struct queue_pair *to, uint8_t syndrome) {
    fail(what, syndrome);
    if (!to->dct) to->state = ERR;
}

/* Whether the peer's queue pair allows it at all, which is another error than a key that does not. */
static bool allowed(const struct execution *what, struct queue_pair *to, uint32_t access) {
    if (to->access & access) return true;
    refuse(what, to, MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR);
    return false;
}

/* ---- receives ---- */

static struct receives *receives_of(struct queue_pair *pair) {
    return pair->shared_receives ? state_of(pair->shared_receives, SRQ) : &pair->receives;
}

static bool has_receive(const struct receives *queue) {
    return queue && queue->count && (uint16_t)be32toh(queue->doorbell[0]) != queue->taken;
}

/* Tells, once, that fewer receives are left in a shared queue than its limit. */
static void check_limit(struct receives *queue) {
    uint16_t left = (uint16_t)be32toh(queue->doorbell[0]) - queue->taken;
    if (left >= queue->limit) return;
    queue->limit = 0;
    raise_for(object(queue->handle, SRQ), IBV_EVENT_SRQ_LIMIT_REACHED);
}

/* Puts data into the next receive; returns its index, or -1 if the data is too long. */
static int receive(struct receives *queue, const uint8_t *bytes, uint32_t count) {
    uint16_t index = queue->shared ? queue->next : queue->taken & (queue->count - 1);
    uint8_t *entry = queue->entries + ((size_t)index << queue->shift), *end = entry + ((size_t)1 << queue->shift);
    struct mlx5_wqe_data_seg *part = (struct mlx5_wqe_data_seg *)entry;
    if (queue->shared) {
        queue->next = be16toh(((struct mlx5_wqe_srq_next_seg *)entry)->next_wqe_index);
        part++;
    }
    int result = queue->shared ? index : queue->taken;
    queue->taken++;
    if (queue->limit) check_limit(queue);
    for (; count && (uint8_t *)(part + 1) <= end; part++) {
        uint32_t now = be32toh(part->byte_count) < count ? be32toh(part->byte_count) : count;
        if (!access_memory(be32toh(part->lkey), be64toh(part->addr), (uint8_t *)bytes, now, true, 0, NONE)) break;
        bytes += now;
        count -= now;
    }
    return count ? -1 - result : result;
}

enum delivery { DELIVERED, NOT_READY, TOO_LONG };

static enum delivery deliver(const struct queue_pair *from, struct queue_pair *to, const uint8_t *bytes, uint32_t count,
        uint32_t skipped, uint8_t opcode, uint32_t immediate) {
    struct receives *queue = receives_of(to);
    if (!has_receive(queue)) return NOT_READY;
    int index = receive(queue, bytes, count);
    if (index < 0) {
        failed(to->receive_completions, to, (uint16_t)(-1 - index), MLX5_CQE_RESP_ERR,
                MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR);
        to->state = ERR;
        return TOO_LONG;
    }
    struct mlx5_cqe64 done = {.srqn_uidx = htobe32(to->user_index), .byte_cnt = htobe32(count + skipped),
        .imm_inval_pkey = immediate, .flags_rqpn = htobe32(from->number), .sop_drop_qpn = htobe32(to->number),
        .wqe_counter = htobe16((uint16_t)index)};
    complete(to->receive_completions, &done, opcode);
    return DELIVERED;
}

/* ---- entries ---- */

static void *take(struct execution *what, size_t size) {
    void *taken = what->next;
    if (what->next + size > what->end) return NULL;
    what->next += size;
    return taken;
}

/* Gathers the data of a send or a write, from inline data or from the parts that name it. */
static bool gather(struct execution *what) {
    what->data = buffer;
    what->bytes = 0;
    while (what->next + UNIT <= what->end) {
        uint32_t count = be32toh(*(uint32_t *)what->next);
        if (count & INLINE) {
            count &= ~INLINE;
            if (what->next + 4 + count > what->end) return false;
            memcpy(buffer + what->bytes, what->next + 4, count);
            what->next += (4 + count + UNIT - 1) / UNIT * UNIT;
        } else {
            const struct mlx5_wqe_data_seg *part = take(what, sizeof *part);
            if (what->bytes + (uint64_t)count > sizeof buffer || !access_memory(be32toh(part->lkey),
                    be64toh(part->addr), buffer + what->bytes, count, false, 0, what->pair->domain)) {
                return false;
            }
        }
        what->bytes += count;
    }
    return true;
}

/* Puts what was read from the peer where the rest of the entry says. */
static bool scatter(struct execution *what, uint8_t *bytes, uint32_t count) {
    while (count && what->next + UNIT <= what->end) {
        const struct mlx5_wqe_data_seg *part = take(what, sizeof *part);
        uint32_t now = be32toh(part->byte_count) < count ? be32toh(part->byte_count) : count;
        if (!access_memory(be32toh(part->lkey), be64toh(part->addr), bytes, now, true, 0, what->pair->domain)) {
            return false;
        }
        bytes += now;
        count -= now;
    }
    return !count;
}

static uint32_t wanted_bytes(const struct execution *what) {
    uint32_t bytes = 0;
    for (uint8_t *part = what->next; part + UNIT <= what->end; part += UNIT) bytes += be32toh(*(uint32_t *)part);
    return bytes;
}

/* Returns whether the request is done, if with an error; otherwise it is tried again later. */
static bool delivered(struct execution *what, struct queue_pair *to, uint32_t bytes, uint32_t skipped, uint8_t opcode) {
    switch (deliver(what->pair, to, buffer, bytes, skipped, opcode, what->control->imm)) {
    case NOT_READY:
        if (what->pair->type == IBV_QPT_UD) break;
        if (what->pair->rnr_retry == 7 || what->pair->waits++ < RNR_PATIENCE) return false;
        fail(what, MLX5_CQE_SYNDROME_RNR_RETRY_EXC_ERR);
        return true;
    case TOO_LONG:
        fail(what, MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR);
        return true;
    case DELIVERED:
        break;
    }
    what->pair->waits = 0;
    sent(what, 0);
    return true;
}

static bool atomic(struct execution *what, struct queue_pair *to, const struct mlx5_wqe_raddr_seg *remote, bool swap) {
    const struct mlx5_wqe_atomic_seg *operands = take(what, sizeof *operands);
    uint64_t before, after;
    uint32_t key = be32toh(remote->rkey);
    uint64_t address = be64toh(remote->raddr);
    if (!allowed(what, to, IBV_ACCESS_REMOTE_ATOMIC)) return true;
    if (address % sizeof before) {
        refuse(what, to, MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR);
        return true;
    }
    if (!access_memory(key, address, (uint8_t *)&before, sizeof before, false, IBV_ACCESS_REMOTE_ATOMIC, to->domain)) {
        refuse(what, to, MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR);
        return true;
    }
    if (swap) after = before == be64toh(operands->compare) ? be64toh(operands->swap_add) : before;
    else after = before + be64toh(operands->swap_add);
    access_memory(key, address, (uint8_t *)&after, sizeof after, true, IBV_ACCESS_REMOTE_ATOMIC, to->domain);
    if (scatter(what, (uint8_t *)&before, sizeof before)) sent(what, sizeof before);
    else fail(what, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR);
    return true;
}

/* Copies from one key of this card to another. */
static void copy(struct execution *what) {
    take(what, UNIT);    // where the card may keep notes
    const struct mlx5_wqe_data_seg *from = take(what, sizeof *from), *to = take(what, sizeof *to);
    uint32_t count = from ? be32toh(from->byte_count) : 0, domain = what->pair->domain;
    if (from && to && count <= sizeof buffer
            && access_memory(be32toh(from->lkey), be64toh(from->addr), buffer, count, false, 0, domain)
            && access_memory(be32toh(to->lkey), be64toh(to->addr), buffer, count, true, 0, domain)) {
        sent(what, count);
    } else {
        fail(what, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR);
    }
}

/* ---- UMR: gives a key of this card its parts ---- */

/* The end of the parts: signatures and encryption follow them. */
static uint8_t *end_of_parts(const struct execution *what, const struct mlx5_wqe_umr_ctrl_seg *control) {
    uint8_t *end = what->next + be16toh(control->klm_octowords) * UNIT;
    return end < what->end ? end : what->end;
}

static void umr(struct execution *what) {
    uint32_t name = be32toh(what->control->imm);
    const struct mlx5_wqe_umr_ctrl_seg *control = take(what, sizeof *control);
    const struct mlx5_wqe_mkey_context_seg *context = take(what, sizeof *context);
    struct memory_key *key = mlx5_key(name);
    if (!control || !context || !key || key->memory) {
        fail(what, MLX5_CQE_SYNDROME_MW_BIND_ERR);
        return;
    }
    key->key = name;
    key->domain = what->pair->domain;
    key->access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
    if (!control->klm_octowords) {    // the layout stays
        sent(what, 0);
        return;
    }
    key->start = be64toh(context->start_addr);
    key->length = be64toh(context->len);
    key->parts = 0;
    key->repetitions = 0;
    const struct mlx5_wqe_umr_repeat_block_seg *repeat = (const void *)what->next;
    if (what->next + sizeof *repeat <= what->end && be32toh(repeat->op) == 0x400) {
        unsigned count = be16toh(repeat->num_ent);
        const struct mlx5_wqe_umr_repeat_ent_seg *entries = repeat->entries;
        key->repetitions = be32toh(repeat->repeat_count);
        for (unsigned i = 0; i < count && i < sizeof key->part / sizeof *key->part; i++) {
            key->part[key->parts++] = (struct part){be64toh(entries[i].va), be32toh(entries[i].memkey),
                be16toh(entries[i].byte_count), be16toh(entries[i].stride)};
        }
    } else {
        for (uint8_t *at = what->next; at + UNIT <= end_of_parts(what, control); at += UNIT) {
            const struct mlx5_wqe_data_seg *part = (const void *)at;
            if (!part->byte_count || key->parts == sizeof key->part / sizeof *key->part) continue;
            key->part[key->parts++] = (struct part){be64toh(part->addr), be32toh(part->lkey),
                be32toh(part->byte_count), 0};
        }
    }
    sent(what, 0);
}

/* ---- the queues ---- */

static struct queue_pair *target(struct execution *what) {
    if (what->pair->type != IBV_QPT_UD && !what->pair->dci) return mlx5_find(what->pair->peer);
    const struct mlx5_wqe_av *address = take(what, sizeof *address);
    if (!address) return NULL;
    struct queue_pair *found = mlx5_find(be32toh(address->dqp_dct) & 0xffffff);
    bool allowed = found && (what->pair->dci ? found->dct && address->key.dc_key == htobe64(found->access_key)
            : be32toh(address->key.qkey.qkey) == found->qkey);
    return allowed ? found : NULL;
}

static bool is_known(uint8_t opcode) {
    switch (opcode) {
    case MLX5_OPCODE_SEND:
    case MLX5_OPCODE_SEND_IMM:
    case MLX5_OPCODE_SEND_INVAL:
    case MLX5_OPCODE_RDMA_WRITE:
    case MLX5_OPCODE_RDMA_WRITE_IMM:
    case MLX5_OPCODE_RDMA_READ:
    case MLX5_OPCODE_ATOMIC_CS:
    case MLX5_OPCODE_ATOMIC_FA:
        return true;
    default:
        return false;
    }
}

/* Returns whether the request is done. */
static bool execute(struct execution *what) {
    uint8_t opcode = be32toh(what->control->opmod_idx_opcode) & 0xff;
    if (opcode == MLX5_OPCODE_NOP || opcode == MLX5_OPCODE_SET_PSV) {
        sent(what, 0);
        return true;
    }
    if (opcode == MLX5_OPCODE_UMR) {
        umr(what);
        return true;
    }
    if (opcode == MLX5_OPCODE_MMO) {
        copy(what);
        return true;
    }
    if (!is_known(opcode)) {
        fail(what, MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR);
        return true;
    }
    struct queue_pair *to = target(what);
    bool datagram = what->pair->type == IBV_QPT_UD;
    if (!to || to->state < RTR || to->state == ERR) {
        if (datagram) sent(what, 0);
        else fail(what, what->pair->dci && to == NULL ? MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR
                : MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR);
        return true;
    }
    const struct mlx5_wqe_raddr_seg *remote = NULL;
    if (opcode == MLX5_OPCODE_RDMA_WRITE || opcode == MLX5_OPCODE_RDMA_WRITE_IMM || opcode == MLX5_OPCODE_RDMA_READ
            || opcode == MLX5_OPCODE_ATOMIC_CS || opcode == MLX5_OPCODE_ATOMIC_FA) {
        remote = take(what, sizeof *remote);
    }
    switch (opcode) {
    case MLX5_OPCODE_ATOMIC_CS:
    case MLX5_OPCODE_ATOMIC_FA:
        return atomic(what, to, remote, opcode == MLX5_OPCODE_ATOMIC_CS);
    case MLX5_OPCODE_RDMA_READ: {
        uint32_t bytes = wanted_bytes(what);
        if (!allowed(what, to, IBV_ACCESS_REMOTE_READ)) return true;
        if (bytes > sizeof buffer || !access_memory(be32toh(remote->rkey), be64toh(remote->raddr), buffer, bytes, false,
                IBV_ACCESS_REMOTE_READ, to->domain)) {
            refuse(what, to, MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR);
        } else if (scatter(what, buffer, bytes)) {
            sent(what, bytes);
        } else {
            fail(what, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR);
        }
        return true;
    }
    }
    if (!gather(what)) {
        fail(what, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR);
        return true;
    }
    switch (opcode) {
    case MLX5_OPCODE_RDMA_WRITE:
    case MLX5_OPCODE_RDMA_WRITE_IMM:
        if (!allowed(what, to, IBV_ACCESS_REMOTE_WRITE)) return true;
        if (opcode == MLX5_OPCODE_RDMA_WRITE_IMM && !has_receive(receives_of(to))) {
            return delivered(what, to, 0, what->bytes, MLX5_CQE_RESP_WR_IMM);
        }
        if (!access_memory(be32toh(remote->rkey), be64toh(remote->raddr), buffer, what->bytes, true,
                IBV_ACCESS_REMOTE_WRITE, to->domain)) {
            refuse(what, to, MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR);
            return true;
        }
        if (opcode == MLX5_OPCODE_RDMA_WRITE_IMM) return delivered(what, to, 0, what->bytes, MLX5_CQE_RESP_WR_IMM);
        sent(what, 0);
        return true;
    default: {
        uint32_t header = datagram ? GLOBAL_ROUTE : 0;
        if (header) {
            memmove(buffer + header, buffer, what->bytes);
            memset(buffer, 0, header);
        }
        return delivered(what, to, what->bytes + header, 0, opcode == MLX5_OPCODE_SEND ? MLX5_CQE_RESP_SEND
                : opcode == MLX5_OPCODE_SEND_IMM ? MLX5_CQE_RESP_SEND_IMM : MLX5_CQE_RESP_SEND_INV);
    }
    }
}

/* Reads an entry, which may go on at the start of the queue. */
static struct execution begin(struct queue_pair *pair) {
    uint32_t index = pair->executed & (pair->send_count - 1);
    uint8_t *entry = pair->sends + (size_t)index * BLOCK, *end = pair->sends + (size_t)pair->send_count * BLOCK;
    uint32_t bytes = (be32toh(((struct mlx5_wqe_ctrl_seg *)entry)->qpn_ds) & 0x3f) * UNIT;
    if (entry + bytes > end) {
        size_t first = (size_t)(end - entry);
        memcpy(flat, entry, first);
        memcpy(flat + first, pair->sends, bytes - first);
        entry = flat;
    }
    return (struct execution){.pair = pair, .entry = entry, .control = (void *)entry,
        .next = entry + sizeof(struct mlx5_wqe_ctrl_seg), .end = entry + bytes};
}

/*
 * An entry takes a block at least, and none that was not posted, whatever size it has: a batch that finds the queue
 * full makes libmlx5 write the size of the entry before it again.
 */
static void advance(struct execution *what) {
    struct queue_pair *pair = what->pair;
    uint16_t blocks = (uint16_t)((what->end - what->entry + BLOCK - 1) / BLOCK);
    uint16_t left = (uint16_t)be32toh(pair->doorbell[1]) - pair->executed;
    pair->executed += blocks == 0 ? 1 : blocks < left ? blocks : left;
}

static bool has_sends(const struct queue_pair *pair) {
    return pair->sends && pair->send_count && (uint16_t)be32toh(pair->doorbell[1]) != pair->executed;
}

static bool flush(struct queue_pair *pair) {
    bool any = false;
    while (has_sends(pair)) {
        struct execution what = begin(pair);
        failed(pair->send_completions, pair, pair->executed, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_WR_FLUSH_ERR);
        advance(&what);
        any = true;
    }
    while (!pair->shared_receives && has_receive(&pair->receives)) {
        failed(pair->receive_completions, pair, pair->receives.taken++, MLX5_CQE_RESP_ERR,
                MLX5_CQE_SYNDROME_WR_FLUSH_ERR);
        any = true;
    }
    return any;
}

static bool busy;

static void turn(uint32_t handle, struct object *one) {
    struct queue_pair *pair = one->state;
    (void)handle;
    if (one->device != &mlx5_device || !pair || pair->dct || pair->foreseen) return;
    if (pair->state == ERR) {
        busy |= flush(pair);
        return;
    }
    while (pair->state == RTS && has_sends(pair)) {
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        struct execution what = begin(pair);
        if (!execute(&what)) break;
        advance(&what);
        busy = true;
    }
}

static void armed(uint32_t handle, struct object *one) {
    (void)handle;
    if (one->device == &mlx5_device && one->state) notify(one->state);
}

bool mlx5_work(void) {
    busy = false;
    each_object(QP, turn);
    each_object(CQ, armed);
    return busy;
}

/* For the tests: the card finds that a signature is wrong, and tells so by a completion that the driver keeps. */
void kernel_wrong_signature(uint32_t number, uint32_t key, uint32_t syndrome, uint32_t domain, uint32_t expected,
        uint32_t actual, uint32_t expected_reference, uint32_t actual_reference, uint32_t offset) {
    uint32_t words[16] = {[4] = htobe32(expected), [5] = htobe32(actual), [6] = htobe32(expected_reference),
        [7] = htobe32(actual_reference), [8] = htobe32(syndrome << 16 | domain), [9] = htobe32(key),
        [11] = htobe32(offset)};
    lock();
    struct queue_pair *pair = mlx5_find(number);
    if (pair) complete(pair->send_completions, (const struct mlx5_cqe64 *)words, MLX5_CQE_SIG_ERR);
    unlock();
}

/* Fills the completion queue of a queue pair, whose sends are not executed any more: each completion is there before
 * the request, which has to fit into one block, so that who measures the driver never waits for the card. */
static void foresee(uint32_t handle, struct object *one) {
    struct queue_pair *pair = one->state;
    (void)handle;
    if (one->device != &mlx5_device || !pair || pair->dct) return;
    struct completions *queue = completions_of(pair->send_completions);
    pair->foreseen = true;
    for (uint32_t i = 0; queue && i < queue->count; i++) {
        struct mlx5_cqe64 done = {
            .srqn_uidx = htobe32(pair->user_index),
            .sop_drop_qpn = htobe32((uint32_t)MLX5_OPCODE_RDMA_WRITE << 24 | pair->number),
            .wqe_counter = htobe16(pair->executed++)};
        complete(pair->send_completions, &done, MLX5_CQE_REQ);
    }
}

/* For benchmarks, whenever all completions have been polled. */
void kernel_foresee(void) {
    lock();
    each_object(QP, foresee);
    unlock();
}
