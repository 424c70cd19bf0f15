// SPDX-License-Identifier: Apache-2.0
// The functions that libibverbs got after rdma-core 44. The headers at hand declare them or do not: so they have other
// names here, and get their own by the linker; their structs are written down once more. The stand-in for rdma-core 44 is
// linked without this file.
#include "fakeverbs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define NAMED(function) __asm__(function)
#define CALL(function, data, size, ...)                                                                               \
	fake_called(function, (uint64_t[]){__VA_ARGS__}, sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), data,      \
		    size)

enum { MOST_OF_A_BUFFER = 1 << 20, PAGE = 4096 };

static void *failed(int error)
{
	errno = error;
	return NULL;
}

// 49

const char *newer_wr_opcode_str(int opcode) NAMED("ibv_wr_opcode_str");
const char *newer_wr_opcode_str(int opcode)
{
	static char text[64];
	snprintf(text, sizeof(text), "ibv_wr_opcode_str %d", opcode);
	return text;
}

// 59

struct newer_dmah_init_attr {
	uint32_t comp_mask;
	uint32_t cpu_id;
	uint8_t ph;
	uint8_t tph_mem_type;
};

struct newer_dmah {
	struct ibv_context *context;
};

struct newer_mr_init_attr {
	size_t length;
	int access;
	uint64_t comp_mask;
	uint64_t iova;
	void *addr;
	int fd;
	uint64_t fd_offset;
	struct newer_dmah *dmah;
	void *buf;
};

struct newer_dmah *newer_alloc_dmah(struct ibv_context *context, const struct newer_dmah_init_attr *attr)
	NAMED("ibv_alloc_dmah");
struct newer_dmah *newer_alloc_dmah(struct ibv_context *context, const struct newer_dmah_init_attr *attr)
{
	int error = CALL("ibv_alloc_dmah", attr, sizeof(*attr), FAKE_BITS(context), FAKE_BITS(attr));
	if (error)
		return failed(error);
	struct newer_dmah *dmah = fake_make(FAKE_DMAH, sizeof(*dmah), fake_users_of_context(context));
	dmah->context = context;
	return dmah;
}

int newer_dealloc_dmah(struct newer_dmah *dmah) NAMED("ibv_dealloc_dmah");
int newer_dealloc_dmah(struct newer_dmah *dmah)
{
	int error = CALL("ibv_dealloc_dmah", NULL, 0, FAKE_BITS(dmah));
	return error ? error : fake_destroy(FAKE_DMAH, dmah, fake_users_of_context(dmah->context));
}

struct ibv_mr *newer_reg_mr_ex(struct ibv_pd *pd, const struct newer_mr_init_attr *attr) NAMED("ibv_reg_mr_ex");
struct ibv_mr *newer_reg_mr_ex(struct ibv_pd *pd, const struct newer_mr_init_attr *attr)
{
	int error = CALL("ibv_reg_mr_ex", attr, sizeof(*attr), FAKE_BITS(pd), FAKE_BITS(attr));
	return error ? failed(error) : fake_make_region(pd, attr->addr, attr->length);
}

// What a C program fills in.
void oracle_mr_init_attr(struct newer_mr_init_attr *attr, const uint64_t *n)
{
	memset(attr, 0, sizeof(*attr));
	attr->length = n[0];
	attr->access = n[1];
	attr->comp_mask = n[2];
	attr->iova = n[3];
	attr->addr = (void *)n[4];
	attr->fd = n[5];
	attr->fd_offset = n[6];
	attr->dmah = (void *)n[7];
	attr->buf = (void *)n[8];
}

// 62

int newer_query_port_speed(struct ibv_context *context, uint32_t port, uint64_t *speed) NAMED("ibv_query_port_speed");
int newer_query_port_speed(struct ibv_context *context, uint32_t port, uint64_t *speed)
{
	int error = CALL("ibv_query_port_speed", NULL, 0, FAKE_BITS(context), port, FAKE_BITS(speed));
	*speed = fake_scripted_result();
	return error;
}

static int exported(int error)
{
	if (error) {
		errno = error;
		return -1;
	}
	return memfd_create("dma-buf", MFD_CLOEXEC);
}

int newer_dm_export_dmabuf_fd(struct ibv_dm *dm) NAMED("ibv_dm_export_dmabuf_fd");
int newer_dm_export_dmabuf_fd(struct ibv_dm *dm)
{
	return exported(CALL("ibv_dm_export_dmabuf_fd", NULL, 0, FAKE_BITS(dm)));
}

// 64, 65

struct newer_buf {
	struct ibv_pd *pd;
	void *memory;
};

void *newer_alloc_buf(struct ibv_pd *pd, size_t size, struct newer_buf **buf) NAMED("ibv_alloc_buf");
void *newer_alloc_buf(struct ibv_pd *pd, size_t size, struct newer_buf **buf)
{
	int error = CALL("ibv_alloc_buf", NULL, 0, FAKE_BITS(pd), size, FAKE_BITS(buf));
	if (error || size > MOST_OF_A_BUFFER)
		return failed(error ? error : ENOMEM);
	*buf = fake_make(FAKE_BUF, sizeof(**buf), fake_users_of_pd(pd));
	(*buf)->pd = pd;
	(*buf)->memory = aligned_alloc(PAGE, (size + PAGE - 1) / PAGE * PAGE);
	memset((*buf)->memory, 0xa5, size);
	return (*buf)->memory;
}

void newer_free_buf(struct newer_buf *buf) NAMED("ibv_free_buf");
void newer_free_buf(struct newer_buf *buf)
{
	CALL("ibv_free_buf", NULL, 0, FAKE_BITS(buf));
	free(buf->memory);
	fake_destroy(FAKE_BUF, buf, fake_users_of_pd(buf->pd));
}

struct ibv_mr *newer_reg_buf_mr(struct ibv_pd *pd, struct newer_buf *buf, void *addr, size_t length, int access)
	NAMED("ibv_reg_buf_mr");
struct ibv_mr *newer_reg_buf_mr(struct ibv_pd *pd, struct newer_buf *buf, void *addr, size_t length, int access)
{
	int error = CALL("ibv_reg_buf_mr", NULL, 0, FAKE_BITS(pd), FAKE_BITS(buf), FAKE_BITS(addr), length,
			 FAKE_BITS(access));
	return error ? failed(error) : fake_make_region(pd, addr, length);
}

int newer_export_buf_dmabuf_fd(struct newer_buf *buf) NAMED("ibv_export_buf_dmabuf_fd");
int newer_export_buf_dmabuf_fd(struct newer_buf *buf)
{
	return exported(CALL("ibv_export_buf_dmabuf_fd", NULL, 0, FAKE_BITS(buf)));
}

// 65: completion counters

struct newer_comp_cntr_caps {
	uint64_t max_value;
	uint32_t max_counters;
	uint32_t supported_qp_attach_ops;
};

struct newer_comp_cntr_init_attr {
	uint32_t comp_mask;
	uint32_t type;
	uint32_t flags;
};

struct newer_qp_attach_comp_cntr_attr {
	uint32_t comp_mask;
	uint32_t op_mask;
};

struct newer_comp_cntr {
	struct ibv_context *context;
	uint32_t handle;
	uint64_t values[2]; // of what succeeded, and of what failed
};

int newer_query_comp_cntr_caps(struct ibv_context *context, struct newer_comp_cntr_caps *caps, size_t size)
	NAMED("_ibv_query_comp_cntr_caps");
int newer_query_comp_cntr_caps(struct ibv_context *context, struct newer_comp_cntr_caps *caps, size_t size)
{
	int error = CALL("_ibv_query_comp_cntr_caps", NULL, 0, FAKE_BITS(context), FAKE_BITS(caps), size);
	*caps = (struct newer_comp_cntr_caps){
		.max_value = (1ull << 63) + 5, .max_counters = 0x80000001u, .supported_qp_attach_ops = 0x80000021u};
	return error;
}

struct newer_comp_cntr *newer_create_comp_cntr(struct ibv_context *context,
					       const struct newer_comp_cntr_init_attr *attr)
	NAMED("ibv_create_comp_cntr");
struct newer_comp_cntr *newer_create_comp_cntr(struct ibv_context *context,
					       const struct newer_comp_cntr_init_attr *attr)
{
	int error = CALL("ibv_create_comp_cntr", attr, sizeof(*attr), FAKE_BITS(context), FAKE_BITS(attr));
	if (error)
		return failed(error);
	struct newer_comp_cntr *counter = fake_make(FAKE_COMP_CNTR, sizeof(*counter), fake_users_of_context(context));
	counter->context = context;
	counter->handle = fake_next_number();
	memset(counter->values, 0, sizeof(counter->values));
	return counter;
}

int newer_destroy_comp_cntr(struct newer_comp_cntr *counter) NAMED("ibv_destroy_comp_cntr");
int newer_destroy_comp_cntr(struct newer_comp_cntr *counter)
{
	int error = CALL("ibv_destroy_comp_cntr", NULL, 0, FAKE_BITS(counter));
	return error ? error : fake_destroy(FAKE_COMP_CNTR, counter, fake_users_of_context(counter->context));
}

#define CHANGE(name, which, operation)                                                                                \
	int newer_##name(struct newer_comp_cntr *counter, uint64_t value) NAMED("ibv_" #name);                            \
	int newer_##name(struct newer_comp_cntr *counter, uint64_t value)                                                 \
	{                                                                                                                 \
		int error = CALL("ibv_" #name, NULL, 0, FAKE_BITS(counter), value);                                           \
		if (!error)                                                                                                   \
			counter->values[which] operation value;                                                                   \
		return error;                                                                                                 \
	}
CHANGE(set_comp_cntr, 0, =)
CHANGE(set_err_comp_cntr, 1, =)
CHANGE(inc_comp_cntr, 0, +=)
CHANGE(inc_err_comp_cntr, 1, +=)

#define READ(name, which)                                                                                             \
	int newer_##name(struct newer_comp_cntr *counter, uint64_t *value) NAMED("ibv_" #name);                           \
	int newer_##name(struct newer_comp_cntr *counter, uint64_t *value)                                                \
	{                                                                                                                 \
		int error = CALL("ibv_" #name, NULL, 0, FAKE_BITS(counter), FAKE_BITS(value));                                \
		*value = counter->values[which];                                                                              \
		return error;                                                                                                 \
	}
READ(read_comp_cntr, 0)
READ(read_err_comp_cntr, 1)

int newer_qp_attach_comp_cntr(struct ibv_qp *qp, struct newer_comp_cntr *counter,
			      const struct newer_qp_attach_comp_cntr_attr *attr) NAMED("ibv_qp_attach_comp_cntr");
int newer_qp_attach_comp_cntr(struct ibv_qp *qp, struct newer_comp_cntr *counter,
			      const struct newer_qp_attach_comp_cntr_attr *attr)
{
	return CALL("ibv_qp_attach_comp_cntr", attr, sizeof(*attr), FAKE_BITS(qp), FAKE_BITS(counter), FAKE_BITS(attr));
}
