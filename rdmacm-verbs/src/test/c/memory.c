// SPDX-License-Identifier: Apache-2.0
// Regions of all kinds, memory windows, device memory, thread and parent domains, and importing, as libibverbs and a
// driver that has them all would do it.
#include "fakeverbs.h"

#include <errno.h>
#include <string.h>

#undef ibv_reg_mr_iova

enum { DM_SIZE = 1024 };

struct fake_dm {
	struct ibv_dm dm;
	int users;
	uint8_t bytes[DM_SIZE];
};

struct fake_td {
	struct ibv_td td;
	int users;
};

static void *failed(int error)
{
	errno = error;
	return NULL;
}

struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access)
{
	int error = CALLED(FAKE_BITS(pd), FAKE_BITS(addr), length, iova, FAKE_BITS(access));
	return error ? failed(error) : fake_make_region(pd, addr, length);
}

struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access)
{
	int error = CALLED(FAKE_BITS(pd), offset, length, iova, FAKE_BITS(fd), FAKE_BITS(access));
	return error ? failed(error) : fake_make_region(pd, NULL, length);
}

// The scripted result is the error code; the scripted failure is errno.
int ibv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length, int access)
{
	int error = CALLED(FAKE_BITS(mr), FAKE_BITS(flags), FAKE_BITS(pd), FAKE_BITS(addr), length, FAKE_BITS(access));
	int result = fake_scripted_result();
	if (result == 0 || result == IBV_REREG_MR_ERR_DO_FORK_OLD) {
		if (flags & IBV_REREG_MR_CHANGE_PD) {
			fake_add(fake_users_of_pd(mr->pd), -1);
			fake_add(fake_users_of_pd(pd), 1);
			mr->pd = pd;
		}
		if (flags & IBV_REREG_MR_CHANGE_TRANSLATION) {
			mr->addr = addr;
			mr->length = length;
		}
		mr->lkey++;
		mr->rkey++;
	}
	errno = error;
	return result;
}

static struct ibv_mr *fake_alloc_null_mr(struct ibv_pd *pd)
{
	int error = CALLED(FAKE_BITS(pd));
	return error ? failed(error) : fake_make_region(pd, NULL, 0);
}

static int fake_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags, struct ibv_sge *list,
			  uint32_t entries)
{
	return CALLED_WITH(list, entries * sizeof(*list), FAKE_BITS(pd), advice, flags, FAKE_BITS(list), entries);
}

// Device memory

static int copy_to(struct ibv_dm *dm, uint64_t offset, const void *host, size_t length)
{
	int error = CALLED(FAKE_BITS(dm), offset, FAKE_BITS(host), length);
	if (error || offset % 4 || length % 4 || offset + length > DM_SIZE)
		return error ? error : EFAULT;
	memcpy(((struct fake_dm *)dm)->bytes + offset, host, length);
	return 0;
}

static int copy_from(void *host, struct ibv_dm *dm, uint64_t offset, size_t length)
{
	int error = CALLED(FAKE_BITS(host), FAKE_BITS(dm), offset, length);
	if (error || offset % 4 || length % 4 || offset + length > DM_SIZE)
		return error ? error : EFAULT;
	memcpy(host, ((struct fake_dm *)dm)->bytes + offset, length);
	return 0;
}

static struct ibv_dm *make_dm(struct ibv_context *context, uint32_t handle)
{
	struct fake_dm *dm = fake_make(FAKE_DM, sizeof(*dm), fake_users_of_context(context));
	dm->dm.context = context;
	dm->dm.memcpy_to_dm = copy_to;
	dm->dm.memcpy_from_dm = copy_from;
	dm->dm.comp_mask = IBV_DM_MASK_HANDLE;
	dm->dm.handle = handle;
	return &dm->dm;
}

static struct ibv_dm *fake_alloc_dm(struct ibv_context *context, struct ibv_alloc_dm_attr *attr)
{
	int error = CALLED_WITH(attr, sizeof(*attr), FAKE_BITS(context), FAKE_BITS(attr));
	return error ? failed(error) : make_dm(context, 0xd0000000u + fake_next_number());
}

static int fake_free_dm(struct ibv_dm *dm)
{
	int error = CALLED(FAKE_BITS(dm));
	if (error || ((struct fake_dm *)dm)->users)
		return error ? error : EBUSY;
	return fake_destroy(FAKE_DM, dm, fake_users_of_context(dm->context));
}

// What a driver that keeps its handles to itself, or has no copies, gives.
void fake_limit_dm(struct ibv_dm *dm)
{
	dm->comp_mask = 0;
	dm->memcpy_to_dm = NULL;
	dm->memcpy_from_dm = NULL;
}

static struct ibv_mr *fake_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t offset, size_t length,
				     unsigned int access)
{
	int error = CALLED(FAKE_BITS(pd), FAKE_BITS(dm), offset, length, access);
	return error ? failed(error) : fake_make_region(pd, NULL, length);
}

// Thread and parent domains

static struct ibv_td *fake_alloc_td(struct ibv_context *context, struct ibv_td_init_attr *attr)
{
	int error = CALLED_WITH(attr, sizeof(*attr), FAKE_BITS(context), FAKE_BITS(attr));
	if (error)
		return failed(error);
	struct fake_td *td = fake_make(FAKE_TD, sizeof(*td), fake_users_of_context(context));
	td->td.context = context;
	return &td->td;
}

static int fake_dealloc_td(struct ibv_td *td)
{
	int error = CALLED(FAKE_BITS(td));
	if (error || ((struct fake_td *)td)->users)
		return error ? error : EBUSY;
	return fake_destroy(FAKE_TD, td, fake_users_of_context(td->context));
}

static struct ibv_pd *fake_alloc_parent_domain(struct ibv_context *context, struct ibv_parent_domain_init_attr *attr)
{
	int error = CALLED_WITH(attr, sizeof(*attr), FAKE_BITS(context), FAKE_BITS(attr));
	if (error)
		return failed(error);
	struct fake_pd *pd = fake_make(FAKE_PD, sizeof(*pd), fake_users_of_context(context));
	pd->pd.context = context;
	pd->parent = *attr;
	pd->users_below[0] = fake_users_of_pd(attr->pd);
	fake_add(pd->users_below[0], 1);
	if (attr->td) {
		pd->users_below[1] = &((struct fake_td *)attr->td)->users;
		fake_add(pd->users_below[1], 1);
	}
	return &pd->pd;
}

// As a driver calls the functions of a parent domain.
void *fake_parent_allocate(struct ibv_pd *pd, size_t size, size_t alignment, uint64_t type)
{
	const struct ibv_parent_domain_init_attr *parent = &((struct fake_pd *)pd)->parent;
	return parent->alloc(pd, parent->pd_context, size, alignment, type);
}

void fake_parent_free(struct ibv_pd *pd, void *memory, uint64_t type)
{
	const struct ibv_parent_domain_init_attr *parent = &((struct fake_pd *)pd)->parent;
	parent->free(pd, parent->pd_context, memory, type);
}

// Importing

struct ibv_pd *ibv_import_pd(struct ibv_context *context, uint32_t handle)
{
	int error = CALLED(FAKE_BITS(context), handle);
	if (error)
		return failed(error);
	struct fake_pd *pd = fake_make(FAKE_PD, sizeof(*pd), fake_users_of_context(context));
	pd->pd.context = context;
	pd->pd.handle = handle;
	return &pd->pd;
}

void ibv_unimport_pd(struct ibv_pd *pd)
{
	CALLED(FAKE_BITS(pd));
	fake_destroy(FAKE_PD, pd, fake_users_of_context(pd->context));
}

struct ibv_mr *ibv_import_mr(struct ibv_pd *pd, uint32_t handle)
{
	int error = CALLED(FAKE_BITS(pd), handle);
	if (error)
		return failed(error);
	struct ibv_mr *mr = fake_make_region(pd, NULL, 4096);
	mr->handle = handle;
	return mr;
}

void ibv_unimport_mr(struct ibv_mr *mr)
{
	CALLED(FAKE_BITS(mr));
	fake_destroy(FAKE_MR, mr, fake_users_of_pd(mr->pd));
}

struct ibv_dm *ibv_import_dm(struct ibv_context *context, uint32_t handle)
{
	int error = CALLED(FAKE_BITS(context), handle);
	return error ? failed(error) : make_dm(context, handle);
}

void ibv_unimport_dm(struct ibv_dm *dm)
{
	CALLED(FAKE_BITS(dm));
	fake_destroy(FAKE_DM, dm, fake_users_of_context(dm->context));
}

// Memory windows

static struct ibv_mw *fake_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	int error = CALLED(FAKE_BITS(pd), type);
	if (error)
		return failed(error);
	struct ibv_mw *mw = fake_make(FAKE_MW, sizeof(*mw), fake_users_of_pd(pd));
	mw->context = pd->context;
	mw->pd = pd;
	mw->type = type;
	mw->rkey = 0xa00000feu + (fake_next_number() << 8);
	return mw;
}

static int fake_dealloc_mw(struct ibv_mw *mw)
{
	int error = CALLED(FAKE_BITS(mw));
	return error ? error : fake_destroy(FAKE_MW, mw, fake_users_of_pd(mw->pd));
}

static int fake_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	int error = CALLED_WITH(bind, sizeof(*bind), FAKE_BITS(qp), FAKE_BITS(mw), FAKE_BITS(bind));
	if (!error)
		mw->rkey = ibv_inc_rkey(mw->rkey);
	return error;
}

// What a C program fills in.

uint32_t oracle_inc_rkey(uint32_t rkey)
{
	return ibv_inc_rkey(rkey);
}

void oracle_bind(struct ibv_mw_bind *bind, uint64_t id, int flags, struct ibv_mr *mr, uint64_t addr, uint64_t length,
		 int access)
{
	memset(bind, 0, sizeof(*bind));
	bind->wr_id = id;
	bind->send_flags = flags;
	bind->bind_info.mr = mr;
	bind->bind_info.addr = addr;
	bind->bind_info.length = length;
	bind->bind_info.mw_access_flags = access;
}

void oracle_send_bind(struct ibv_send_wr *wr, const struct ibv_mw_bind *bind, struct ibv_mw *mw, uint32_t rkey,
		      struct ibv_sge *list)
{
	memset(wr, 0, sizeof(*wr));
	wr->wr_id = bind->wr_id;
	wr->opcode = IBV_WR_BIND_MW;
	wr->send_flags = bind->send_flags;
	wr->sg_list = list;
	wr->bind_mw.mw = mw;
	wr->bind_mw.rkey = rkey;
	wr->bind_mw.bind_info = bind->bind_info;
}

// Puts the functions of this file into a context.
void fake_serve_memory(struct ibv_context *context)
{
	struct verbs_context *extended = verbs_get_ctx(context);
	context->ops.alloc_mw = fake_alloc_mw;
	context->ops.dealloc_mw = fake_dealloc_mw;
	context->ops.bind_mw = fake_bind_mw;
	extended->alloc_null_mr = fake_alloc_null_mr;
	extended->advise_mr = fake_advise_mr;
	extended->alloc_dm = fake_alloc_dm;
	extended->free_dm = fake_free_dm;
	extended->reg_dm_mr = fake_reg_dm_mr;
	extended->alloc_td = fake_alloc_td;
	extended->dealloc_td = fake_dealloc_td;
	extended->alloc_parent_domain = fake_alloc_parent_domain;
}

// All memory, as a C program registers it; with constant flags, as the macro of verbs.h likes them.
struct ibv_mr *oracle_register_all(struct ibv_pd *pd, int relaxed)
{
	if (relaxed)
		return ibv_reg_mr(pd, NULL, SIZE_MAX, IBV_ACCESS_ON_DEMAND | IBV_ACCESS_RELAXED_ORDERING);
	return ibv_reg_mr(pd, NULL, SIZE_MAX,
			  IBV_ACCESS_ON_DEMAND | IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
}
