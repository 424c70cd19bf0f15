// SPDX-License-Identifier: Apache-2.0
// The attributes of queue pairs as a C program fills them in.
#include "fakeverbs.h"

// The numbers, in the order of the members below.
void oracle_qp_attr(struct ibv_qp_attr *attr, const uint32_t *n, const struct ibv_ah_attr *path,
		    const struct ibv_ah_attr *alternate)
{
	*attr = (struct ibv_qp_attr){
		.qp_state = n[0],
		.cur_qp_state = n[1],
		.path_mtu = n[2],
		.path_mig_state = n[3],
		.qkey = n[4],
		.rq_psn = n[5],
		.sq_psn = n[6],
		.dest_qp_num = n[7],
		.qp_access_flags = n[8],
		.cap = {
			.max_send_wr = n[9],
			.max_recv_wr = n[10],
			.max_send_sge = n[11],
			.max_recv_sge = n[12],
			.max_inline_data = n[13],
		},
		.ah_attr = *path,
		.alt_ah_attr = *alternate,
		.pkey_index = n[14],
		.alt_pkey_index = n[15],
		.en_sqd_async_notify = n[16],
		.max_rd_atomic = n[17],
		.max_dest_rd_atomic = n[18],
		.min_rnr_timer = n[19],
		.port_num = n[20],
		.timeout = n[21],
		.retry_cnt = n[22],
		.rnr_retry = n[23],
		.alt_port_num = n[24],
		.alt_timeout = n[25],
		.rate_limit = n[26],
	};
}

// What queries of a queue pair answer besides its state; NULL for nothing.
static struct ibv_qp_attr answer;
static int answers;

void fake_query_answer(const struct ibv_qp_attr *attr)
{
	answers = attr != NULL;
	if (attr)
		answer = *attr;
}

void fake_fill_query(struct ibv_qp *qp, struct ibv_qp_attr *attr, struct ibv_qp_init_attr *init)
{
	if (answers)
		*attr = answer;
	attr->qp_state = qp->state;
	*init = (struct ibv_qp_init_attr){
		.qp_context = qp->qp_context,
		.send_cq = qp->send_cq,
		.recv_cq = qp->recv_cq,
		.srq = qp->srq,
		.cap = {.max_send_wr = 11, .max_recv_wr = 12, .max_send_sge = 13, .max_recv_sge = 14, .max_inline_data = 15},
		.qp_type = qp->qp_type,
		.sq_sig_all = 1,
	};
}
