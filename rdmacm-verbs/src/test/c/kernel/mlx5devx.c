// SPDX-License-Identifier: Apache-2.0
/* The firmware of mlx5_0, as far as the direct verbs ask it: what it can do, and the objects that commands create. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/mlx5_user_ioctl_cmds.h>

#include "mlx5.h"

#define QUERY_CAPABILITIES 0x100
#define CREATE_SIGNATURE 0x600
#define CREATE_OBJECT 0xa00

#define ENCRYPTION_KEY 0x0c
#define LOGIN 0x1f
#define RESERVED_NUMBERS 0x2c

#define GENERAL 0
#define GENERAL_2 0x20
#define CRYPTO 0x1a

#define CAPABILITIES 0x80    // where they begin in an answer, in bits
#define OBJECT 0x80          // where the object begins in a command or an answer, in bits
#define SIGNATURE_NUMBER 0x88
#define OBJECT_NUMBER 0x40
#define RESERVED_SHIFT 2     // how many numbers of queue pairs are reserved at a time, as a logarithm

/* What a command has created: its text, to be queried. */
struct made {
    uint32_t type, size;
    uint8_t command[1024];
};

static bool takes_wrapped_keys;
static bool login_invalid;
static struct made last_made;

static void set(uint8_t *bytes, unsigned bit, unsigned width, uint64_t value) {
    for (unsigned i = 0; i < width; i++, bit++) {
        uint8_t mask = 0x80 >> (bit & 7);
        if (value >> (width - 1 - i) & 1) bytes[bit / 8] |= mask;
        else bytes[bit / 8] &= ~mask;
    }
}

static uint32_t get16(const uint8_t *bytes, unsigned bit) {
    return (uint32_t)bytes[bit / 8] << 8 | bytes[bit / 8 + 1];
}

static uint8_t *answer_of(struct request *request, unsigned id, uint32_t *length) {
    const struct ib_uverbs_attr *found = attribute(request, id);
    if (!found) return NULL;
    *length = found->len;
    uint8_t *bytes = (uint8_t *)(uintptr_t)found->data;
    memset(bytes, 0, found->len);
    return bytes;
}

static void capability(uint8_t *answer, unsigned bit, unsigned width, uint64_t value) {
    set(answer, CAPABILITIES + bit, width, value);
}

static void general_capabilities(uint8_t *answer) {
    capability(answer, 0x020, 1, 1);    // there are more
    capability(answer, 0x06b, 5, 20);   // copies of at most 1 MiB
    capability(answer, 0x147, 1, 1);    // CRC64 XP10
    capability(answer, 0x148, 1, 1);    // CRC32C
    capability(answer, 0x153, 1, 1);    // copies by any queue
    capability(answer, 0x1f0, 1, 1);    // blocks of 4048 bytes
    capability(answer, 0x217, 1, 1);    // signatures
    capability(answer, 0x3f2, 1, 1);    // AES-XTS of several blocks
    capability(answer, 0x400, 64, 1ull << ENCRYPTION_KEY | 1ull << LOGIN | 1ull << RESERVED_NUMBERS);
    capability(answer, 0x469, 1, 1);    // encryption
    capability(answer, 0x480, 1, 1);    // completions tell which signature was wrong
}

static void crypto_capabilities(uint8_t *answer) {
    capability(answer, 0x00, 1, 1);     // there are wrapping keys
    capability(answer, 0x18, 8, takes_wrapped_keys ? 4 : 0);
    capability(answer, 0x2b, 5, 10);
}

/* Answers a command that creates nothing. */
int mlx5_general_command(struct request *request) {
    const uint8_t *command = in(request, MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, 16);
    uint32_t length;
    uint8_t *answer = answer_of(request, MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, &length);
    if (!command || !answer) return EINVAL;
    if (get16(command, 0) == QUERY_CAPABILITIES && length >= 0x110) {
        switch (get16(command, 0x30) >> 1) {
        case GENERAL:
            general_capabilities(answer);
            break;
        case GENERAL_2:
            capability(answer, 0x93, 5, RESERVED_SHIFT);
            break;
        case CRYPTO:
            crypto_capabilities(answer);
            break;
        }
    }
    return 0;
}

/* Creates an object of a kind that has no meaning for the queues. Returns EOPNOTSUPP if it does not know it. */
int mlx5_create_object(struct request *request, const uint8_t *command) {
    uint32_t opcode = get16(command, 0), type = opcode == CREATE_OBJECT ? get16(command, 0x30) : 0;
    if (opcode != CREATE_OBJECT && opcode != CREATE_SIGNATURE) return EOPNOTSUPP;
    uint32_t length;
    uint8_t *answer = answer_of(request, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, &length);
    uint32_t handle = add_object(request, OTHER);
    struct made *made = object(handle, OTHER)->state = calloc(1, sizeof *made);
    made->type = type;
    made->size = attribute(request, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN)->len;
    if (made->size > sizeof made->command) made->size = sizeof made->command;
    memcpy(made->command, command, made->size);
    last_made = *made;
    set(answer, opcode == CREATE_SIGNATURE ? SIGNATURE_NUMBER : OBJECT_NUMBER,
            opcode == CREATE_SIGNATURE ? 24 : 32, next_number());
    for (unsigned more = 1; type == RESERVED_NUMBERS && more < 1u << RESERVED_SHIFT; more++) next_number();
    set_data(request, MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE, handle);
    return 0;
}

int mlx5_query_object(struct request *request) {
    struct made *made = state_of(in32(request, MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE), OTHER);
    uint32_t length;
    uint8_t *answer = answer_of(request, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT, &length);
    if (!made || !answer) return EINVAL;
    uint32_t known = made->size > OBJECT / 8 ? made->size - OBJECT / 8 : 0;
    memcpy(answer + OBJECT / 8, made->command + OBJECT / 8, known < length - OBJECT / 8 ? known : length - OBJECT / 8);
    if (made->type == LOGIN) set(answer, OBJECT + 0x84, 4, login_invalid ? 1 : 0);
    return 0;
}

/* Replaces what follows the head of the command that has created the object. */
int mlx5_modify_object(struct request *request) {
    struct made *made = state_of(in32(request, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE), OTHER);
    const uint8_t *command = in(request, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN, OBJECT / 8);
    uint32_t length;
    if (!made || !command || !answer_of(request, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT, &length)) return EINVAL;
    uint32_t size = attribute(request, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN)->len;
    if (size > made->size) size = made->size;
    memcpy(made->command + OBJECT / 8, command + OBJECT / 8, size - OBJECT / 8);
    return 0;
}

/* For the tests: whether cards that are opened from now on take keys wrapped or in plain text. */
void kernel_take_wrapped_keys(int wrapped) {
    lock();
    takes_wrapped_keys = wrapped;
    unlock();
}

/* For the tests: whether the credentials of logins have been deleted. */
void kernel_invalidate_logins(int invalid) {
    lock();
    login_invalid = invalid;
    unlock();
}

/* For the tests: copies the command that has created the last object; returns its length. */
uint32_t kernel_last_command(uint8_t *bytes, uint32_t length) {
    lock();
    uint32_t count = last_made.size < length ? last_made.size : length;
    memcpy(bytes, last_made.command, count);
    unlock();
    return count;
}
