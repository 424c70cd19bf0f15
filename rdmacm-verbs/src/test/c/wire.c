// SPDX-License-Identifier: Apache-2.0
// A device that steers whole frames as the manual pages say, in software, for those contexts that ask for it
// (fake_equip_wire): what one of them sends comes to every queue pair with a flow that matches, and there to its own
// receives or, by the hash, to one of its work queues. For one thread at a time.
#include "fakeverbs.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, RECEIVES = 1024, ETHERNET = 14, IPV4 = 20, IPV6 = 40 };

struct rule {
	struct ibv_flow *flow;
	struct ibv_qp *qp;
	struct ibv_flow_attr *attr; // a copy
};

struct spreading {
	struct ibv_qp *qp;
	struct ibv_rwq_ind_table *table;
	uint64_t fields;
	uint8_t key[256];
};

struct table {
	struct ibv_rwq_ind_table *table;
	uint32_t entries;
	struct ibv_wq *queues[MOST];
};

struct receive {
	void *queue; // a queue pair or a work queue; NULL when it is used up
	struct ibv_cq *cq;
	uint64_t id;
	struct ibv_sge entry;
};

static struct rule rules[MOST];
static struct spreading spreadings[MOST];
static struct table tables[MOST];
static struct receive receives[RECEIVES];
static unsigned posted;
// what the device does beside
static struct verbs_context plain;

static uint8_t protocol_of(const uint8_t *frame)
{
	return frame[ETHERNET] >> 4 == 4 ? frame[ETHERNET + 9] : frame[ETHERNET + 6];
}

static int same(const void *value, const void *mask, const uint8_t *frame, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if ((((const uint8_t *)value)[i] ^ frame[i]) & ((const uint8_t *)mask)[i])
			return 0;
	return 1;
}

#define SAME(spec, member, offset)                                                                                    \
	same(&(spec)->val.member, &(spec)->mask.member, frame + (offset), sizeof((spec)->val.member))

static int matches(const struct ibv_flow_spec *spec, const uint8_t *frame)
{
	int version = frame[ETHERNET] >> 4;
	int ports = ETHERNET + (version == 4 ? IPV4 : IPV6);
	switch ((int)spec->hdr.type) {
	case IBV_FLOW_SPEC_ETH:
		return SAME(&spec->eth, dst_mac, 0) && SAME(&spec->eth, src_mac, 6) && SAME(&spec->eth, ether_type, 12);
	case IBV_FLOW_SPEC_IPV4_EXT:
		return version == 4 && SAME(&spec->ipv4_ext, src_ip, ETHERNET + 12) &&
		       SAME(&spec->ipv4_ext, dst_ip, ETHERNET + 16) && SAME(&spec->ipv4_ext, proto, ETHERNET + 9) &&
		       SAME(&spec->ipv4_ext, tos, ETHERNET + 1) && SAME(&spec->ipv4_ext, ttl, ETHERNET + 8);
	case IBV_FLOW_SPEC_IPV6:
		return version == 6 && SAME(&spec->ipv6, src_ip, ETHERNET + 8) &&
		       SAME(&spec->ipv6, dst_ip, ETHERNET + 24) && SAME(&spec->ipv6, next_hdr, ETHERNET + 6) &&
		       SAME(&spec->ipv6, hop_limit, ETHERNET + 7);
	case IBV_FLOW_SPEC_TCP:
	case IBV_FLOW_SPEC_UDP:
		return protocol_of(frame) == (spec->hdr.type == IBV_FLOW_SPEC_TCP ? IPPROTO_TCP : IPPROTO_UDP) &&
		       SAME(&spec->tcp_udp, src_port, ports) && SAME(&spec->tcp_udp, dst_port, ports + 2);
	default:
		return 0;
	}
}

static int rule_matches(const struct ibv_flow_attr *attr, const uint8_t *frame)
{
	const uint8_t *spec = (const uint8_t *)(attr + 1);
	for (int i = 0; i < attr->num_of_specs; i++, spec += ((const struct ibv_flow_spec *)spec)->hdr.size)
		if (!matches((const struct ibv_flow_spec *)spec, frame))
			return 0;
	return 1;
}

// For each bit of the input that is set, the 32 bits of the key that begin there.
static uint32_t toeplitz(const uint8_t *key, const uint8_t *input, int size)
{
	uint32_t hash = 0;
	for (int bit = 0; bit < size * 8; bit++) {
		if (!(input[bit / 8] >> (7 - bit % 8) & 1))
			continue;
		for (int i = 0; i < 32; i++)
			hash ^= (uint32_t)(key[(bit + i) / 8] >> (7 - (bit + i) % 8) & 1) << (31 - i);
	}
	return hash;
}

// Frames other than those of IPv4, and fields other than its addresses, are not hashed.
static void *queue_for(struct ibv_qp *qp, const uint8_t *frame)
{
	for (int i = 0; i < MOST; i++) {
		if (spreadings[i].qp != qp)
			continue;
		uint32_t hash = spreadings[i].fields == (IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4)
					? toeplitz(spreadings[i].key, frame + ETHERNET + 12, 8) : 0;
		for (int t = 0; t < MOST; t++)
			if (tables[t].table == spreadings[i].table)
				return tables[t].queues[hash % tables[t].entries];
	}
	return qp;
}

static void deliver(void *queue, const uint8_t *frame, uint32_t size)
{
	for (unsigned i = 0; i < posted; i++) {
		if (receives[i].queue != queue)
			continue;
		struct ibv_wc wc = {
			.wr_id = receives[i].id,
			.status = size > receives[i].entry.length ? IBV_WC_LOC_LEN_ERR : IBV_WC_SUCCESS,
			.opcode = IBV_WC_RECV,
			.byte_len = size,
		};
		if (wc.status == IBV_WC_SUCCESS)
			memcpy((void *)(uintptr_t)receives[i].entry.addr, frame, size);
		receives[i].queue = NULL;
		fake_complete(receives[i].cq, &wc);
		return;
	}
	// nobody waits for it: it is lost, as on a wire
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	for (; wr; wr = wr->next) {
		struct ibv_wc wc = {.wr_id = wr->wr_id, .opcode = IBV_WC_SEND, .qp_num = qp->qp_num};
		const uint8_t *frame = (const uint8_t *)(uintptr_t)wr->sg_list->addr;
		if (qp->state != IBV_QPS_RTS || wr->num_sge != 1) {
			*bad = wr;
			return EINVAL;
		}
		for (int i = 0; i < MOST; i++)
			if (rules[i].flow && rule_matches(rules[i].attr, frame))
				deliver(queue_for(rules[i].qp, frame), frame, wr->sg_list->length);
		if (wr->send_flags & IBV_SEND_SIGNALED)
			fake_complete(qp->send_cq, &wc);
	}
	return 0;
}

static int post_receives(void *queue, struct ibv_cq *cq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	for (; wr; wr = wr->next) {
		if (posted == RECEIVES || wr->num_sge != 1) {
			*bad = wr;
			return ENOMEM;
		}
		receives[posted++] = (struct receive){.queue = queue, .cq = cq, .id = wr->wr_id, .entry = *wr->sg_list};
	}
	return 0;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	return post_receives(qp, qp->recv_cq, wr, bad);
}

static int post_wq_recv(struct ibv_wq *wq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	if (wq->state != IBV_WQS_RDY) {
		*bad = wr;
		return EINVAL;
	}
	return post_receives(wq, wq->cq, wr, bad);
}

// An empty place in one of the arrays above.
#define PLACE(array, member)                                                                                          \
	({                                                                                                                \
		int place = 0;                                                                                                \
		while (array[place].member)                                                                                   \
			if (++place == MOST)                                                                                      \
				abort();                                                                                              \
		&array[place];                                                                                                \
	})

static struct ibv_flow *create_flow(struct ibv_qp *qp, struct ibv_flow_attr *attr)
{
	struct ibv_flow *flow = plain.ibv_create_flow(qp, attr);
	if (flow) {
		struct rule *rule = PLACE(rules, flow);
		*rule = (struct rule){.flow = flow, .qp = qp, .attr = malloc(attr->size)};
		memcpy(rule->attr, attr, attr->size);
	}
	return flow;
}

static int destroy_flow(struct ibv_flow *flow)
{
	for (int i = 0; i < MOST; i++) {
		if (rules[i].flow != flow)
			continue;
		free(rules[i].attr);
		rules[i].flow = NULL;
	}
	return plain.ibv_destroy_flow(flow);
}

static struct ibv_wq *create_wq(struct ibv_context *context, struct ibv_wq_init_attr *attr)
{
	struct ibv_wq *wq = plain.create_wq(context, attr);
	if (wq)
		wq->post_recv = post_wq_recv;
	return wq;
}

static struct ibv_rwq_ind_table *create_rwq_ind_table(struct ibv_context *context,
						      struct ibv_rwq_ind_table_init_attr *attr)
{
	struct ibv_rwq_ind_table *made = plain.create_rwq_ind_table(context, attr);
	if (made) {
		struct table *table = PLACE(tables, table);
		table->table = made;
		table->entries = 1u << attr->log_ind_tbl_size;
		memcpy(table->queues, attr->ind_tbl, table->entries * sizeof(*attr->ind_tbl));
	}
	return made;
}

static struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *init)
{
	struct ibv_qp *qp = plain.create_qp_ex(context, init);
	if (qp && (init->comp_mask & IBV_QP_INIT_ATTR_IND_TABLE)) {
		struct spreading *spreading = PLACE(spreadings, qp);
		spreading->qp = qp;
		spreading->table = init->rwq_ind_tbl;
		spreading->fields = init->rx_hash_conf.rx_hash_fields_mask;
		memcpy(spreading->key, init->rx_hash_conf.rx_hash_key, init->rx_hash_conf.rx_hash_key_len);
	}
	return qp;
}

void fake_equip_work_queues(struct ibv_context *context);
void fake_equip_queue_pairs(struct ibv_context *context);
void fake_equip_flows(struct ibv_context *context);

// Forgets all that was on the wire before.
void fake_clear_wire(void)
{
	posted = 0;
	memset(receives, 0, sizeof(receives));
	memset(rules, 0, sizeof(rules));
	memset(tables, 0, sizeof(tables));
	memset(spreadings, 0, sizeof(spreadings));
}

// What is destroyed receives nothing more. The next object may come to lie where it was, and would get its receives:
// frames would be written to memory that is long freed.
void fake_leave_wire(const void *object)
{
	for (unsigned i = 0; i < posted; i++)
		if (receives[i].queue == object)
			receives[i].queue = NULL;
	for (int i = 0; i < MOST; i++) {
		if (tables[i].table == object)
			tables[i].table = NULL;
		if (spreadings[i].qp == object)
			spreadings[i].qp = NULL;
	}
}

// How many receives wait for a frame.
int fake_waiting_receives(void)
{
	int waiting = 0;
	for (unsigned i = 0; i < posted; i++)
		waiting += receives[i].queue != NULL;
	return waiting;
}

void fake_equip_wire(struct ibv_context *context)
{
	struct verbs_context *extended = verbs_get_ctx(context);
	fake_equip_work_queues(context);
	fake_equip_queue_pairs(context);
	fake_equip_flows(context);
	plain = *extended;
	context->ops.post_send = post_send;
	context->ops.post_recv = post_recv;
	extended->query_port = NULL; // the exported function tells of the port
	extended->ibv_create_flow = create_flow;
	extended->ibv_destroy_flow = destroy_flow;
	extended->create_wq = create_wq;
	extended->create_rwq_ind_table = create_rwq_ind_table;
	extended->create_qp_ex = create_qp_ex;
}

uint32_t fake_toeplitz(const uint8_t *key, const uint8_t *input, int size)
{
	return toeplitz(key, input, size);
}
