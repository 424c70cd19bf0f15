// SPDX-License-Identifier: Apache-2.0
// Between the parts of the null provider.
#ifndef NULLPATH_H
#define NULLPATH_H

#include "nullverbs.h"

struct null_cq *null_create_cq(struct ibv_context *context, uint32_t entries);
struct ibv_qp *null_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *init);

// The functions that verbs.h calls through pointers.
void null_fill_context(struct verbs_context *context);
int null_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
void null_fill_cq(struct null_cq *cq);
void null_fill_qp(struct null_qp *qp);

// Queue pairs by their numbers; 0 when there is no memory.
int null_add_qp(struct null_qp *qp);
void null_remove_qp(struct null_qp *qp);

#endif
