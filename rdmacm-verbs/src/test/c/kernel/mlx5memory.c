// SPDX-License-Identifier: Apache-2.0
/* Memory of mlx5_0 itself, and memory of the process that commands name. */
#include <errno.h>
#include <stdlib.h>

#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>

#include "mlx5.h"

#define METHOD(object, method) ((uint32_t)(object) << 16 | (uint32_t)(method))
#define START 0x40             // of memory for data, in its first page
#define STEERING 0x123400000   // the address of other memory, for the card
#define OPERATIONS 16

/* What was asked for last, for the tests. */
static struct {
    uint64_t type, operation, length, access, page_sizes, file;
} last;

static int allocate(struct request *request) {
    last.type = in64(request, MLX5_IB_ATTR_ALLOC_DM_REQ_TYPE);
    last.length = in64(request, UVERBS_ATTR_ALLOC_DM_LENGTH);
    bool data = last.type == MLX5_IB_UAPI_DM_TYPE_MEMIC;
    set_data(request, UVERBS_ATTR_ALLOC_DM_HANDLE, add_object(request, OTHER));
    OUT(request, MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET, uint64_t, data ? START : STEERING);
    if (data) OUT(request, MLX5_IB_ATTR_ALLOC_DM_RESP_PAGE_INDEX, uint16_t, 3);
    return 0;
}

static int map_operation(struct request *request) {
    last.operation = in64(request, MLX5_IB_ATTR_DM_MAP_OP_ADDR_REQ_OP) & 0xff;
    if (last.operation >= OPERATIONS) return EOPNOTSUPP;
    OUT(request, MLX5_IB_ATTR_DM_MAP_OP_ADDR_RESP_START_OFFSET, uint64_t, START);
    OUT(request, MLX5_IB_ATTR_DM_MAP_OP_ADDR_RESP_PAGE_INDEX, uint16_t, 4);
    return 0;
}

static int register_memory(struct request *request) {
    last.length = in64(request, MLX5_IB_ATTR_DEVX_UMEM_REG_LEN);
    last.access = in64(request, MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS);
    last.page_sizes = in64(request, MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP);
    const struct ib_uverbs_attr *file = attribute(request, MLX5_IB_ATTR_DEVX_UMEM_REG_DMABUF_FD);
    last.file = file ? (uint64_t)file->data_s64 : ~0ull;
    set_data(request, MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE, add_object(request, OTHER));
    OUT(request, MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, uint32_t, next_number());
    return 0;
}

int mlx5_memory_request(struct request *request) {
    switch (METHOD(request->header->object_id, request->header->method_id)) {
    case METHOD(UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC):
        return allocate(request);
    case METHOD(UVERBS_OBJECT_DM, UVERBS_METHOD_DM_FREE):
        return destroy_object(in32(request, UVERBS_ATTR_FREE_DM_HANDLE), OTHER);
    case METHOD(UVERBS_OBJECT_DM, MLX5_IB_METHOD_DM_MAP_OP_ADDR):
        return map_operation(request);
    case METHOD(MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_REG):
        return register_memory(request);
    case METHOD(MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_DEREG):
        return destroy_object(in32(request, MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE), OTHER);
    }
    return ENOPROTOOPT;
}

/* For the tests: the type of memory that was allocated last, the operation that was mapped last; and of the memory that
 * was registered last its length, the access to it, the bits of page sizes, and its file, or -1. */
void kernel_memory(uint64_t *values) {
    lock();
    values[0] = last.type;
    values[1] = last.operation;
    values[2] = last.length;
    values[3] = last.access;
    values[4] = last.page_sizes;
    values[5] = last.file;
    unlock();
}
