// SPDX-License-Identifier: Apache-2.0
// Prints a send work queue entry that it forms with the structs and functions of mlx5dv.h, for the test that compares
// it with that of Java. Arguments: opcode, modifier, number of the queue pair, remote address, remote key, local
// address, local key, then the operands in hexadecimal digits.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

static uint64_t number(const char *text) {
    return strtoull(text, NULL, 0);
}

static size_t bytes(const char *digits, uint8_t *to) {
    size_t count = strlen(digits) / 2;
    for (size_t i = 0; i < count; i++) {
        unsigned value;
        sscanf(digits + 2 * i, "%2x", &value);
        to[i] = (uint8_t) value;
    }
    return count;
}

int main(int count, char **arguments) {
    if (count < 9) {
        return 2;
    }
    uint8_t entry[256] __attribute__((aligned(16))) = {0};
    struct mlx5_wqe_raddr_seg *remote = (void *) (entry + sizeof(struct mlx5_wqe_ctrl_seg));
    remote->raddr = htobe64(number(arguments[4]));
    remote->rkey = htobe32((uint32_t) number(arguments[5]));
    uint8_t *next = (uint8_t *) (remote + 1);
    size_t size = 0;
    for (int i = 8; i < count; i++) {
        size = bytes(arguments[i], next);
        next += size;
    }
    mlx5dv_set_data_seg((void *) next, (uint32_t) size, (uint32_t) number(arguments[7]), number(arguments[6]));
    next += sizeof(struct mlx5_wqe_data_seg);
    mlx5dv_set_ctrl_seg((void *) entry, 0, (uint8_t) number(arguments[1]), (uint8_t) number(arguments[2]),
                        (uint32_t) number(arguments[3]), MLX5_WQE_CTRL_CQ_UPDATE, (uint8_t) ((next - entry) / 16), 0, 0);
    for (uint8_t *at = entry; at < next; at++) {
        printf("%02x", *at);
    }
    printf("\n");
    return 0;
}
