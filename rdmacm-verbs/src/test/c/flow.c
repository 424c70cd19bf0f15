// SPDX-License-Identifier: Apache-2.0
// Flow rules and their actions, for those who ask for them (fake_equip_flows), and both as a C program fills them in.
#include "fakeverbs.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

static void *failed(int error)
{
	errno = error;
	return NULL;
}

static struct ibv_flow *create_flow(struct ibv_qp *qp, struct ibv_flow_attr *attr)
{
	int error = CALLED_WITH(attr, attr->size, FAKE_BITS(qp));
	if (error)
		return failed(error);
	struct ibv_flow *flow = fake_make(FAKE_FLOW, sizeof(*flow), fake_users_of_context(qp->context));
	flow->context = qp->context;
	flow->handle = fake_next_number();
	return flow;
}

static int destroy_flow(struct ibv_flow *flow)
{
	int error = CALLED(FAKE_BITS(flow));
	return error ? error : fake_destroy(FAKE_FLOW, flow, fake_users_of_context(flow->context));
}

// What the attributes of an action lead to, one behind the other: the struct with ones for pointers, then what these
// point to. As a driver does, it goes by lengths and the end of the list.
static size_t flatten(const struct ibv_flow_action_esp_attr *attr, uint8_t *bytes)
{
	size_t size = 0;
	struct ibv_flow_action_esp_attr plain;
	memset(&plain, 0, sizeof(plain));
	plain.esp_attr = (void *)(uintptr_t)(attr->esp_attr != NULL);
	plain.keymat_proto = attr->keymat_proto;
	plain.keymat_len = attr->keymat_len;
	plain.keymat_ptr = (void *)(uintptr_t)(attr->keymat_ptr != NULL);
	plain.replay_proto = attr->replay_proto;
	plain.replay_len = attr->replay_len;
	plain.replay_ptr = (void *)(uintptr_t)(attr->replay_ptr != NULL);
	plain.esp_encap = (void *)(uintptr_t)(attr->esp_encap != NULL);
	plain.comp_mask = attr->comp_mask;
	plain.esn = attr->esn;
#define ADD(pointer, length)                                                                                          \
	do {                                                                                                              \
		memcpy(bytes + size, pointer, length);                                                                        \
		size += length;                                                                                               \
	} while (0)
	ADD(&plain, sizeof(plain));
	if (attr->esp_attr)
		ADD(attr->esp_attr, sizeof(*attr->esp_attr));
	if (attr->keymat_ptr)
		ADD(attr->keymat_ptr, attr->keymat_len);
	if (attr->replay_ptr)
		ADD(attr->replay_ptr, attr->replay_len);
	for (const struct ibv_flow_action_esp_encap *encap = attr->esp_encap; encap; encap = encap->next_ptr) {
		ADD(&encap->type, sizeof(encap->type));
		ADD(&encap->len, sizeof(encap->len));
		ADD(encap->val_ptr, encap->len);
	}
	return size;
}

static struct ibv_flow_action *create_flow_action_esp(struct ibv_context *context,
						      struct ibv_flow_action_esp_attr *attr)
{
	uint8_t bytes[FAKE_DATA];
	int error = CALLED_WITH(bytes, flatten(attr, bytes), FAKE_BITS(context));
	if (error)
		return failed(error);
	struct ibv_flow_action *action = fake_make(FAKE_FLOW_ACTION, sizeof(*action), fake_users_of_context(context));
	action->context = context;
	return action;
}

static int modify_flow_action_esp(struct ibv_flow_action *action, struct ibv_flow_action_esp_attr *attr)
{
	uint8_t bytes[FAKE_DATA];
	return CALLED_WITH(bytes, flatten(attr, bytes), FAKE_BITS(action));
}

static int destroy_flow_action(struct ibv_flow_action *action)
{
	int error = CALLED(FAKE_BITS(action));
	return error ? error : fake_destroy(FAKE_FLOW_ACTION, action, fake_users_of_context(action->context));
}

static int attach_counters_point_flow(struct ibv_counters *counters, struct ibv_counter_attach_attr *attr,
				      struct ibv_flow *flow)
{
	return CALLED_WITH(attr, sizeof(*attr), FAKE_BITS(counters), FAKE_BITS(flow));
}

void fake_equip_flows(struct ibv_context *context)
{
	struct verbs_context *extended = verbs_get_ctx(context);
	extended->ibv_create_flow = create_flow;
	extended->ibv_destroy_flow = destroy_flow;
	extended->create_flow_action_esp = create_flow_action_esp;
	extended->modify_flow_action_esp = modify_flow_action_esp;
	extended->destroy_flow_action = destroy_flow_action;
	extended->attach_counters_point_flow = attach_counters_point_flow;
}

// A rule with every kind of specification once, as in the example of the manual page; the numbers are those of the test.
struct every_spec {
	struct ibv_flow_attr attr;
	struct ibv_flow_spec_eth eth;
	struct ibv_flow_spec_ipv4 ipv4;
	struct ibv_flow_spec_ipv4_ext ipv4_ext;
	struct ibv_flow_spec_ipv6 ipv6;
	struct ibv_flow_spec_esp esp;
	struct ibv_flow_spec_tcp_udp tcp;
	struct ibv_flow_spec_tcp_udp udp;
	struct ibv_flow_spec_tunnel tunnel;
	struct ibv_flow_spec_gre gre;
	struct ibv_flow_spec_mpls mpls;
	struct ibv_flow_spec_action_tag tag;
	struct ibv_flow_spec_action_handle handle;
	struct ibv_flow_spec_counter_action count;
	struct ibv_flow_spec_action_drop drop;
} __attribute__((packed));

// Returns the size. With a type_flag the matches are of the packet inside a tunnel.
uint64_t oracle_every_spec(struct every_spec *rule, uint32_t type_flag, struct ibv_flow_action *action,
			   struct ibv_counters *counters)
{
	memset(rule, 0, sizeof(*rule));
	rule->attr.type = IBV_FLOW_ATTR_NORMAL;
	rule->attr.size = sizeof(*rule);
	rule->attr.priority = 0xfedc;
	rule->attr.num_of_specs = 14;
	rule->attr.port = 0xfb;
	rule->attr.flags = IBV_FLOW_ATTR_FLAGS_DONT_TRAP | IBV_FLOW_ATTR_FLAGS_EGRESS;

	rule->eth.type = IBV_FLOW_SPEC_ETH | type_flag;
	rule->eth.size = sizeof(rule->eth);
	memcpy(rule->eth.val.dst_mac, "\x01\x50\x56\x19\x20\xa7", 6);
	memset(rule->eth.mask.dst_mac, 0xff, 6);
	memcpy(rule->eth.val.src_mac, "\x24\x8a\x07\xa5\x28\xc8", 6);
	memcpy(rule->eth.mask.src_mac, "\xff\xff\xff\x00\x00\x01", 6);
	rule->eth.val.ether_type = htons(0x86dd);
	rule->eth.mask.ether_type = 0xffff;
	rule->eth.val.vlan_tag = htons(0xbc0c);
	rule->eth.mask.vlan_tag = htons(0x0fff);

	rule->ipv4.type = IBV_FLOW_SPEC_IPV4 | type_flag;
	rule->ipv4.size = sizeof(rule->ipv4);
	rule->ipv4.val.src_ip = inet_addr("1.2.3.4");
	rule->ipv4.mask.src_ip = inet_addr("255.255.255.0");
	rule->ipv4.val.dst_ip = inet_addr("250.6.7.8");
	rule->ipv4.mask.dst_ip = 0xffffffff;

	rule->ipv4_ext.type = IBV_FLOW_SPEC_IPV4_EXT | type_flag;
	rule->ipv4_ext.size = sizeof(rule->ipv4_ext);
	rule->ipv4_ext.val.src_ip = inet_addr("9.10.11.12");
	rule->ipv4_ext.mask.src_ip = 0xffffffff;
	rule->ipv4_ext.val.dst_ip = inet_addr("13.14.15.16");
	rule->ipv4_ext.mask.dst_ip = inet_addr("255.0.0.0");
	rule->ipv4_ext.val.proto = 17;
	rule->ipv4_ext.mask.proto = 0xff;
	rule->ipv4_ext.val.tos = 0xa0;
	rule->ipv4_ext.mask.tos = 0xf0;
	rule->ipv4_ext.val.ttl = 64;
	rule->ipv4_ext.mask.ttl = 0xff;
	rule->ipv4_ext.val.flags = 2;
	rule->ipv4_ext.mask.flags = 7;

	rule->ipv6.type = IBV_FLOW_SPEC_IPV6 | type_flag;
	rule->ipv6.size = sizeof(rule->ipv6);
	inet_pton(AF_INET6, "a0a1::a2a3:a4a5:a6a7:a8a9", rule->ipv6.val.src_ip);
	memset(rule->ipv6.mask.src_ip, 0xff, 16);
	inet_pton(AF_INET6, "::b8b9", rule->ipv6.val.dst_ip);
	inet_pton(AF_INET6, "ffff:ffff::ffff", rule->ipv6.mask.dst_ip);
	rule->ipv6.val.flow_label = htonl(0xabcde);
	rule->ipv6.mask.flow_label = htonl(0xfffff);
	rule->ipv6.val.next_hdr = 6;
	rule->ipv6.mask.next_hdr = 0xff;
	rule->ipv6.val.traffic_class = 0x81;
	rule->ipv6.mask.traffic_class = 0xfe;
	rule->ipv6.val.hop_limit = 255;
	rule->ipv6.mask.hop_limit = 0xff;

	rule->esp.type = IBV_FLOW_SPEC_ESP | type_flag;
	rule->esp.size = sizeof(rule->esp);
	rule->esp.val.spi = htonl(0x89abcdef);
	rule->esp.mask.spi = 0xffffffff;
	rule->esp.val.seq = htonl(0x01020304);
	rule->esp.mask.seq = htonl(0xff00ff00);

	rule->tcp.type = IBV_FLOW_SPEC_TCP | type_flag;
	rule->tcp.size = sizeof(rule->tcp);
	rule->tcp.val.dst_port = htons(5678);
	rule->tcp.mask.dst_port = 0xffff;
	rule->tcp.val.src_port = htons(0x1200);
	rule->tcp.mask.src_port = htons(0xff00);

	rule->udp.type = IBV_FLOW_SPEC_UDP | type_flag;
	rule->udp.size = sizeof(rule->udp);
	rule->udp.val.dst_port = htons(4791);
	rule->udp.mask.dst_port = 0xffff;

	rule->tunnel.type = IBV_FLOW_SPEC_VXLAN_TUNNEL | type_flag;
	rule->tunnel.size = sizeof(rule->tunnel);
	rule->tunnel.val.tunnel_id = htonl(7777777);
	rule->tunnel.mask.tunnel_id = htonl(0xffffff);

	rule->gre.type = IBV_FLOW_SPEC_GRE | type_flag;
	rule->gre.size = sizeof(rule->gre);
	rule->gre.val.c_ks_res0_ver = htons(0x2001);
	rule->gre.mask.c_ks_res0_ver = htons(0xb007);
	rule->gre.val.protocol = htons(0x6558);
	rule->gre.mask.protocol = 0xffff;
	rule->gre.val.key = htonl(0xdeadbeef);
	rule->gre.mask.key = 0xffffffff;

	rule->mpls.type = IBV_FLOW_SPEC_MPLS | type_flag;
	rule->mpls.size = sizeof(rule->mpls);
	rule->mpls.val.label = htonl(0x9abcd << 12);
	rule->mpls.mask.label = htonl(0xfffff000);

	rule->tag.type = IBV_FLOW_SPEC_ACTION_TAG;
	rule->tag.size = sizeof(rule->tag);
	rule->tag.tag_id = 0x00fedcba;

	rule->handle.type = IBV_FLOW_SPEC_ACTION_HANDLE;
	rule->handle.size = sizeof(rule->handle);
	rule->handle.action = action;

	rule->count.type = IBV_FLOW_SPEC_ACTION_COUNT;
	rule->count.size = sizeof(rule->count);
	rule->count.counters = counters;

	rule->drop.type = IBV_FLOW_SPEC_ACTION_DROP;
	rule->drop.size = sizeof(rule->drop);
	return sizeof(*rule);
}

// A rule without specifications.
uint64_t oracle_flow(struct ibv_flow_attr *attr, uint32_t type, uint32_t flags, uint16_t priority, uint8_t port)
{
	*attr = (struct ibv_flow_attr){
		.type = type,
		.size = sizeof(*attr),
		.priority = priority,
		.port = port,
		.flags = flags,
	};
	return sizeof(*attr);
}

// The parts of an action, in the bits of a mask.
enum { PARAMETERS = 1, KEY = 2, REPLAY = 4, NO_REPLAY = 8, ENCAPSULATION = 16, SEQUENCE = 32 };

// All in the byte order of the machine.
struct oracle_esp_numbers {
	uint64_t flags;
	uint64_t spi;
	uint64_t seq;
	uint64_t padding;
	uint64_t hard_limit;
	uint64_t iv;
	uint64_t salt;
	uint64_t check_length;
	uint64_t replay_window;
	uint64_t outer_source; // IPv4
	uint64_t outer_destination;
	uint64_t source_port;
	uint64_t destination_port;
	uint64_t sequence;
};

// Returns the size of what is written, flattened.
uint64_t oracle_esp(uint8_t *bytes, uint32_t parts, const struct oracle_esp_numbers *n, const uint8_t *key,
		    uint32_t key_length)
{
	struct ibv_flow_action_esp_attr attr;
	struct ibv_flow_action_esp parameters = {
		.spi = n->spi,
		.seq = n->seq,
		.tfc_pad = n->padding,
		.flags = n->flags,
		.hard_limit_pkts = n->hard_limit,
	};
	struct ibv_flow_action_esp_keymat_aes_gcm material = {
		.iv = n->iv,
		.iv_algo = IBV_FLOW_ACTION_IV_ALGO_SEQ,
		.salt = n->salt,
		.icv_len = n->check_length,
		.key_len = key_length,
	};
	struct ibv_flow_action_esp_replay_bmp bitmap = {.size = n->replay_window};
	struct ibv_flow_ipv4_filter outer = {.src_ip = htonl(n->outer_source), .dst_ip = htonl(n->outer_destination)};
	struct ibv_flow_tcp_udp_filter ports = {
		.dst_port = htons(n->destination_port),
		.src_port = htons(n->source_port),
	};
	struct ibv_flow_action_esp_encap second = {
		.val_ptr = &ports,
		.len = sizeof(ports),
		.type = IBV_FLOW_SPEC_UDP,
	};
	struct ibv_flow_action_esp_encap first = {
		.val_ptr = &outer,
		.next_ptr = &second,
		.len = sizeof(outer),
		.type = IBV_FLOW_SPEC_IPV4,
	};

	memset(&attr, 0, sizeof(attr));
	if (parts & PARAMETERS)
		attr.esp_attr = &parameters;
	if (parts & KEY) {
		memcpy(material.aes_key, key, key_length);
		attr.keymat_proto = IBV_FLOW_ACTION_ESP_KEYMAT_AES_GCM;
		attr.keymat_len = sizeof(material);
		attr.keymat_ptr = &material;
	}
	if (parts & REPLAY) {
		attr.replay_proto = IBV_FLOW_ACTION_ESP_REPLAY_BMP;
		attr.replay_len = sizeof(bitmap);
		attr.replay_ptr = &bitmap;
	}
	if (parts & NO_REPLAY) {
		attr.replay_proto = IBV_FLOW_ACTION_ESP_REPLAY_NONE;
		attr.replay_ptr = &bitmap;
	}
	if (parts & ENCAPSULATION)
		attr.esp_encap = &first;
	if (parts & SEQUENCE) {
		attr.comp_mask = IBV_FLOW_ACTION_ESP_MASK_ESN;
		attr.esn = n->sequence;
	}
	return flatten(&attr, bytes);
}

void oracle_counter_attach(struct ibv_counter_attach_attr *attr, uint32_t description, uint32_t index)
{
	*attr = (struct ibv_counter_attach_attr){.counter_desc = description, .index = index};
}
