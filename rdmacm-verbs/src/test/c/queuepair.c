// SPDX-License-Identifier: Apache-2.0
// Queue pairs: making and destroying them, also by the functions of the driver for those who ask for them
// (fake_equip_queue_pairs), and their attributes as a C program fills them in.
#include "fakeverbs.h"

#include <errno.h>

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

static struct ibv_qp *make_pair(struct ibv_context *context, struct ibv_pd *pd, const struct ibv_qp_init_attr *init)
{
	struct ibv_qp_ex *qp = fake_make(FAKE_QP, FAKE_QP_EX_SIZE, pd ? fake_users_of_pd(pd) : NULL);
	qp->qp_base.context = context;
	qp->qp_base.qp_context = init->qp_context;
	qp->qp_base.pd = pd;
	qp->qp_base.send_cq = init->send_cq;
	qp->qp_base.recv_cq = init->recv_cq;
	qp->qp_base.srq = init->srq;
	qp->qp_base.qp_type = init->qp_type;
	qp->qp_base.qp_num = fake_next_number();
	qp->qp_base.state = IBV_QPS_RESET;
	if (init->send_cq)
		fake_add(fake_users_of_cq(init->send_cq), 1);
	if (init->recv_cq)
		fake_add(fake_users_of_cq(init->recv_cq), 1);
	if (init->srq)
		fake_add(fake_users_of_srq(init->srq), 1);
	fake_fill_queue_pair(qp);
	return &qp->qp_base;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	int error = CALLED_WITH(init, sizeof(*init), FAKE_BITS(pd), FAKE_BITS(init));
	if (error) {
		errno = error;
		return NULL;
	}
	// A device gives more than it is asked for.
	init->cap.max_send_wr *= 2;
	init->cap.max_recv_wr *= 4;
	return make_pair(pd->context, pd, init);
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	int error = CALLED(FAKE_BITS(qp));
	if (error || qp->events_completed)
		return error ? error : EBUSY;
	if (qp->send_cq)
		fake_add(fake_users_of_cq(qp->send_cq), -1);
	if (qp->recv_cq)
		fake_add(fake_users_of_cq(qp->recv_cq), -1);
	if (qp->srq)
		fake_add(fake_users_of_srq(qp->srq), -1);
	return fake_destroy(FAKE_QP, qp, qp->pd ? fake_users_of_pd(qp->pd) : NULL);
}

static struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *init)
{
	int error = CALLED_WITH(init, sizeof(*init), FAKE_BITS(context), FAKE_BITS(init));
	if (error) {
		errno = error;
		return NULL;
	}
	if (init->comp_mask & IBV_QP_INIT_ATTR_RX_HASH)
		fake_append(init->rx_hash_conf.rx_hash_key, init->rx_hash_conf.rx_hash_key_len);
	init->cap.max_inline_data += 3;
	return make_pair(context, init->comp_mask & IBV_QP_INIT_ATTR_PD ? init->pd : NULL,
			 (struct ibv_qp_init_attr *)init);
}

static struct ibv_qp *open_qp(struct ibv_context *context, struct ibv_qp_open_attr *attr)
{
	struct ibv_qp_init_attr init = {.qp_type = attr->qp_type};
	int error = CALLED_WITH(attr, sizeof(*attr), FAKE_BITS(context), FAKE_BITS(attr));
	if (error) {
		errno = error;
		return NULL;
	}
	struct ibv_qp *qp = make_pair(context, NULL, &init);
	qp->qp_num = attr->qp_num;
	return qp;
}

static int modify_qp_rate_limit(struct ibv_qp *qp, struct ibv_qp_rate_limit_attr *attr)
{
	return CALLED_WITH(attr, sizeof(*attr), FAKE_BITS(qp), FAKE_BITS(attr));
}

void fake_equip_queue_pairs(struct ibv_context *context)
{
	struct verbs_context *extended = verbs_get_ctx(context);
	extended->create_qp_ex = create_qp_ex;
	extended->open_qp = open_qp;
	extended->modify_qp_rate_limit = modify_qp_rate_limit;
}

int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags)
{
	CALLED(FAKE_BITS(qp), op, flags);
	return fake_scripted_result();
}

int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	return CALLED_WITH(ece, sizeof(*ece), FAKE_BITS(qp), FAKE_BITS(ece));
}

int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	int error = CALLED(FAKE_BITS(qp), FAKE_BITS(ece));
	if (!error)
		*ece = (struct ibv_ece){.vendor_id = 0x8015b3, .options = 0x90000001};
	return error;
}

// The numbers: type, sq_sig_all, comp_mask, create_flags, max_tso_header, source_qpn, send_ops_flags, then the sizes.
void oracle_qp_init(struct ibv_qp_init_attr_ex *init, const uint32_t *n, struct ibv_cq *send, struct ibv_cq *receive,
		    struct ibv_pd *pd, struct ibv_xrcd *xrcd)
{
	*init = (struct ibv_qp_init_attr_ex){
		.send_cq = send,
		.recv_cq = receive,
		.cap = {
			.max_send_wr = n[7],
			.max_recv_wr = n[8],
			.max_send_sge = n[9],
			.max_recv_sge = n[10],
			.max_inline_data = n[11],
		},
		.qp_type = n[0],
		.sq_sig_all = n[1],
		.comp_mask = n[2],
		.pd = pd,
		.xrcd = xrcd,
		.create_flags = n[3],
		.max_tso_header = n[4],
		.source_qpn = n[5],
		.send_ops_flags = n[6],
	};
}

// What a queue pair that spreads its receives has beside; the key is compared apart.
void oracle_qp_spreading(struct ibv_qp_init_attr_ex *init, struct ibv_rwq_ind_table *table, uint8_t key_length,
			 uint64_t fields)
{
	init->comp_mask |= IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH;
	init->rwq_ind_tbl = table;
	init->rx_hash_conf = (struct ibv_rx_hash_conf){
		.rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ,
		.rx_hash_key_len = key_length,
		.rx_hash_fields_mask = fields,
	};
}

uint64_t oracle_every_hash_field(void)
{
	return IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4 | IBV_RX_HASH_SRC_IPV6 | IBV_RX_HASH_DST_IPV6 |
	       IBV_RX_HASH_SRC_PORT_TCP | IBV_RX_HASH_DST_PORT_TCP | IBV_RX_HASH_SRC_PORT_UDP |
	       IBV_RX_HASH_DST_PORT_UDP | IBV_RX_HASH_IPSEC_SPI | IBV_RX_HASH_INNER;
}

void oracle_qp_open(struct ibv_qp_open_attr *attr, uint32_t number, struct ibv_xrcd *xrcd)
{
	*attr = (struct ibv_qp_open_attr){
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE,
		.qp_num = number,
		.xrcd = xrcd,
		.qp_type = IBV_QPT_XRC_RECV,
	};
}

void oracle_rate_limit(struct ibv_qp_rate_limit_attr *attr, uint32_t rate, uint32_t burst, uint16_t packet)
{
	*attr = (struct ibv_qp_rate_limit_attr){.rate_limit = rate, .max_burst_sz = burst, .typical_pkt_sz = packet};
}

void oracle_ece(struct ibv_ece *ece, uint32_t vendor, uint32_t options)
{
	*ece = (struct ibv_ece){.vendor_id = vendor, .options = options};
}

uint32_t oracle_remote_srqn(const struct ibv_send_wr *wr)
{
	return wr->qp_type.xrc.remote_srqn;
}
