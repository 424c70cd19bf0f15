// SPDX-License-Identifier: Apache-2.0
// Flow rules of any specifications and any numbers, as a C program puts them together: each behind the last.
#include "fakeverbs.h"

#include <arpa/inet.h>
#include <endian.h>
#include <string.h>

// A number of up to 128 bits in the byte order of the machine.
struct number {
	uint64_t high;
	uint64_t low;
};

// In the byte order of the network; the members of the packed structs need not be aligned.
static void put(void *member, size_t size, struct number value)
{
	uint64_t bytes[2] = {htobe64(value.high), htobe64(value.low)};
	memcpy(member, (uint8_t *)(bytes + 2) - size, size);
}
#define PUT(member) put(&filter->member, sizeof(filter->member), *n++)

static void fill_eth(struct ibv_flow_eth_filter *filter, const struct number *n)
{
	PUT(dst_mac);
	PUT(src_mac);
	PUT(ether_type);
	PUT(vlan_tag);
}

static void fill_ipv4(struct ibv_flow_ipv4_filter *filter, const struct number *n)
{
	PUT(src_ip);
	PUT(dst_ip);
}

static void fill_ipv4_ext(struct ibv_flow_ipv4_ext_filter *filter, const struct number *n)
{
	PUT(src_ip);
	PUT(dst_ip);
	PUT(proto);
	PUT(tos);
	PUT(ttl);
	PUT(flags);
}

static void fill_ipv6(struct ibv_flow_ipv6_filter *filter, const struct number *n)
{
	PUT(src_ip);
	PUT(dst_ip);
	PUT(flow_label);
	PUT(next_hdr);
	PUT(traffic_class);
	PUT(hop_limit);
}

static void fill_esp(struct ibv_flow_esp_filter *filter, const struct number *n)
{
	PUT(spi);
	PUT(seq);
}

static void fill_tcp_udp(struct ibv_flow_tcp_udp_filter *filter, const struct number *n)
{
	PUT(dst_port);
	PUT(src_port);
}

static void fill_tunnel(struct ibv_flow_tunnel_filter *filter, const struct number *n)
{
	PUT(tunnel_id);
}

static void fill_gre(struct ibv_flow_gre_filter *filter, const struct number *n)
{
	PUT(c_ks_res0_ver);
	PUT(protocol);
	PUT(key);
}

static void fill_mpls(struct ibv_flow_mpls_filter *filter, const struct number *n)
{
	PUT(label);
}

// Adds a specification to a rule that oracle_flow has begun. The numbers of a match are those of its members, in their
// order; of what is done with packets there is one value.
void oracle_flow_spec(struct ibv_flow_attr *rule, uint32_t type, const struct number *values,
		      const struct number *masks)
{
	struct ibv_flow_spec any;
	struct ibv_flow_spec *spec = &any;
	size_t size = 0;
	memset(spec, 0, sizeof(*spec));
#define MATCH(type, member, fill)                                                                                     \
	case type:                                                                                                        \
		size = sizeof(spec->member);                                                                                  \
		fill(&spec->member.val, values);                                                                              \
		fill(&spec->member.mask, masks);                                                                              \
		break
	switch (type & ~IBV_FLOW_SPEC_INNER) {
	MATCH(IBV_FLOW_SPEC_ETH, eth, fill_eth);
	MATCH(IBV_FLOW_SPEC_IPV4, ipv4, fill_ipv4);
	MATCH(IBV_FLOW_SPEC_IPV4_EXT, ipv4_ext, fill_ipv4_ext);
	MATCH(IBV_FLOW_SPEC_IPV6, ipv6, fill_ipv6);
	MATCH(IBV_FLOW_SPEC_ESP, esp, fill_esp);
	MATCH(IBV_FLOW_SPEC_TCP, tcp_udp, fill_tcp_udp);
	MATCH(IBV_FLOW_SPEC_UDP, tcp_udp, fill_tcp_udp);
	MATCH(IBV_FLOW_SPEC_VXLAN_TUNNEL, tunnel, fill_tunnel);
	MATCH(IBV_FLOW_SPEC_GRE, gre, fill_gre);
	MATCH(IBV_FLOW_SPEC_MPLS, mpls, fill_mpls);
	case IBV_FLOW_SPEC_ACTION_TAG:
		size = sizeof(spec->flow_tag);
		spec->flow_tag.tag_id = values->low;
		break;
	case IBV_FLOW_SPEC_ACTION_HANDLE:
		size = sizeof(spec->handle);
		spec->handle.action = (struct ibv_flow_action *)values->low;
		break;
	case IBV_FLOW_SPEC_ACTION_COUNT:
		size = sizeof(spec->flow_count);
		spec->flow_count.counters = (struct ibv_counters *)values->low;
		break;
	case IBV_FLOW_SPEC_ACTION_DROP:
		size = sizeof(spec->drop);
		break;
	}
	spec->hdr.type = type;
	spec->hdr.size = size;
	memcpy((uint8_t *)rule + rule->size, spec, size);
	rule->size += size;
	rule->num_of_specs++;
}
