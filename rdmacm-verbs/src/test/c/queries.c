// SPDX-License-Identifier: Apache-2.0
// What libibverbs and a driver tell of a device and its ports, and what a C program reads of it.
#include "fakeverbs.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#undef ibv_query_port

// No two bytes of a number are the same, and the highest bit is often set.
static void scribble(void *memory, size_t size)
{
	for (size_t i = 0; i < size; i++)
		((uint8_t *)memory)[i] = 0x91 + 37 * i;
}

const char *ibv_get_device_name(struct ibv_device *device)
{
	CALLED(FAKE_BITS(device));
	return device->name;
}

__be64 ibv_get_device_guid(struct ibv_device *device)
{
	CALLED(FAKE_BITS(device));
	return htobe64(0xf254000000000000u + device->name[4]);
}

int ibv_get_device_index(struct ibv_device *device)
{
	CALLED(FAKE_BITS(device));
	return device->name[4] - '0' + 7;
}

struct ibv_context *ibv_import_device(int cmd_fd)
{
	int error = CALLED(FAKE_BITS(cmd_fd));
	if (error) {
		if (error != EOPNOTSUPP && error != ENODEV)
			close(cmd_fd);
		errno = error;
		return NULL;
	}
	close(cmd_fd);
	struct ibv_device **list = ibv_get_device_list(NULL);
	if (!list)
		return NULL;
	struct ibv_context *context = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	return context;
}

// A bit that verbs.h has no name for, as newer devices set them.
#define FAKE_UNKNOWN_FLAG (1u << 30)

static void fill_device(struct ibv_device_attr *attr)
{
	scribble(attr, sizeof(*attr));
	strcpy(attr->fw_ver, "12.34.5678");
	attr->device_cap_flags = IBV_DEVICE_RESIZE_MAX_WR | IBV_DEVICE_XRC | IBV_DEVICE_MANAGED_FLOW_STEERING | FAKE_UNKNOWN_FLAG;
	attr->atomic_cap = IBV_ATOMIC_GLOB;
}

static void fill_device_ex(struct ibv_device_attr_ex *attr)
{
	scribble(attr, sizeof(*attr));
	fill_device(&attr->orig_attr);
	attr->odp_caps.general_caps = IBV_ODP_SUPPORT_IMPLICIT | 1ull << 40;
	attr->odp_caps.per_transport_caps.rc_odp_caps = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_SRQ_RECV;
	attr->odp_caps.per_transport_caps.uc_odp_caps = IBV_ODP_SUPPORT_RECV | FAKE_UNKNOWN_FLAG;
	attr->odp_caps.per_transport_caps.ud_odp_caps = IBV_ODP_SUPPORT_ATOMIC;
	if (fake_is_able()) {
		attr->odp_caps.general_caps |= IBV_ODP_SUPPORT;
		attr->odp_caps.per_transport_caps.rc_odp_caps |= IBV_ODP_SUPPORT_RECV;
	}
	attr->device_cap_flags_ex = IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_RAW_SCATTER_FCS | IBV_DEVICE_PCI_WRITE_END_PADDING |
				    1ull << 60;
	attr->rss_caps.rx_hash_fields_mask = IBV_RX_HASH_DST_IPV6 | 1ull << 50;
	attr->rss_caps.rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ | 0x80;
	attr->raw_packet_caps = IBV_RAW_PACKET_CAP_SCATTER_FCS | IBV_RAW_PACKET_CAP_DELAY_DROP;
	attr->tm_caps.flags = IBV_TM_CAP_RC;
	attr->pci_atomic_caps.fetch_add = IBV_PCI_ATOMIC_OPERATION_4_BYTE_SIZE_SUP;
	attr->pci_atomic_caps.swap = IBV_PCI_ATOMIC_OPERATION_8_BYTE_SIZE_SUP;
	attr->pci_atomic_caps.compare_swap = IBV_PCI_ATOMIC_OPERATION_16_BYTE_SIZE_SUP;
	attr->xrc_odp_caps = IBV_ODP_SUPPORT_READ;
}

static void fill_port(struct ibv_port_attr *attr, size_t size)
{
	scribble(attr, size);
	attr->state = IBV_PORT_ACTIVE;
	attr->max_mtu = IBV_MTU_4096;
	attr->active_mtu = IBV_MTU_1024;
	attr->port_cap_flags = IBV_PORT_SM | IBV_PORT_IP_BASED_GIDS | 1u << 31;
	attr->link_layer = IBV_LINK_LAYER_ETHERNET;
	attr->flags = IBV_QPF_GRH_REQUIRED;
	if (size >= FAKE_ACTIVE_SPEED_EX)
		attr->port_cap_flags2 = IBV_PORT_VIRT_SUP | IBV_PORT_LINK_SPEED_NDR_SUP | 1u << 15;
	if (size >= FAKE_PORT_ATTR_SIZE)
		*(uint32_t *)((char *)attr + FAKE_ACTIVE_SPEED_EX) = 256;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	int error = CALLED(FAKE_BITS(context), FAKE_BITS(attr));
	if (!error)
		fill_device(attr);
	return error;
}

int fake_query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
			 struct ibv_device_attr_ex *attr, size_t size)
{
	int error = CALLED(FAKE_BITS(context), FAKE_BITS(input), FAKE_BITS(attr), size);
	// also when it fails: a driver may have begun
	fill_device_ex(attr);
	return error;
}

int fake_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values)
{
	int error = CALLED_WITH(values, sizeof(*values), FAKE_BITS(context), FAKE_BITS(values));
	scribble(&values->raw_clock, sizeof(values->raw_clock));
	values->comp_mask = fake_scripted_result();
	return error;
}

// Of the first ABI: it knows nothing of the last member.
int ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *attr)
{
	int error = CALLED(FAKE_BITS(context), port, FAKE_BITS(attr));
	if (!error)
		fill_port((struct ibv_port_attr *)attr, offsetof(struct ibv_port_attr, port_cap_flags2));
	return error;
}

int fake_query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr, size_t size)
{
	int error = CALLED(FAKE_BITS(context), port, FAKE_BITS(attr), size);
	if (!error)
		fill_port(attr, size);
	return error;
}

// As rdma-core 44 does it.
int fake_query_port_44(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr, size_t size)
{
	int error = CALLED(FAKE_BITS(context), port, FAKE_BITS(attr), size);
	memset(attr, 0, size);
	fill_port(attr, FAKE_ACTIVE_SPEED_EX);
	return error;
}

int ibv_query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid)
{
	int error = CALLED(FAKE_BITS(context), port, FAKE_BITS(index), FAKE_BITS(gid));
	scribble(gid, sizeof(*gid));
	errno = EXDEV; // as good as any
	return error ? -1 : 0;
}

static void fill_entry(struct ibv_gid_entry *entry, uint32_t port, uint32_t index)
{
	scribble(&entry->gid, sizeof(entry->gid));
	entry->gid.raw[15] = index;
	entry->gid_index = index;
	entry->port_num = port;
	entry->gid_type = IBV_GID_TYPE_ROCE_V2;
	entry->ndev_ifindex = 17;
}

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port, uint32_t index, struct ibv_gid_entry *entry,
		      uint32_t flags, size_t size)
{
	int error = CALLED(FAKE_BITS(context), port, index, FAKE_BITS(entry), flags, size);
	fill_entry(entry, port, index);
	return error;
}

// Two entries.
ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries, size_t max, uint32_t flags,
			     size_t size)
{
	int error = CALLED(FAKE_BITS(context), FAKE_BITS(entries), max, flags, size);
	if (error || max < 2)
		return error ? -error : -EINVAL;
	fill_entry(&entries[0], 1, 0);
	fill_entry(&entries[1], 2, 5);
	return 2;
}

int ibv_query_pkey(struct ibv_context *context, uint8_t port, int index, __be16 *pkey)
{
	int error = CALLED(FAKE_BITS(context), port, FAKE_BITS(index), FAKE_BITS(pkey));
	*pkey = htobe16(0x8001);
	errno = error;
	return error ? -1 : 0;
}

int ibv_get_pkey_index(struct ibv_context *context, uint8_t port, __be16 pkey)
{
	int error = CALLED(FAKE_BITS(context), port, pkey);
	errno = error;
	return error ? -1 : be16toh(pkey) == 0x8001 ? 3 : 0;
}

// Texts and rates: what is passed on, and what comes back.
#define TEXT(function, type)                                                                                          \
	const char *function(enum type value)                                                                         \
	{                                                                                                             \
		static char text[64];                                                                                 \
		snprintf(text, sizeof(text), #function " %d", value);                                                 \
		return text;                                                                                          \
	}
TEXT(ibv_node_type_str, ibv_node_type)
TEXT(ibv_port_state_str, ibv_port_state)
TEXT(ibv_wc_status_str, ibv_wc_status)

int ibv_rate_to_mult(enum ibv_rate rate)
{
	return rate == IBV_RATE_MAX ? -1 : 100 + (int)rate;
}

int ibv_rate_to_mbps(enum ibv_rate rate)
{
	return rate == IBV_RATE_MAX ? -1 : 1000 + (int)rate;
}

enum ibv_rate mult_to_ibv_rate(int mult)
{
	return mult > 100 ? mult - 100 : IBV_RATE_MAX;
}

enum ibv_rate mbps_to_ibv_rate(int mbps)
{
	return mbps > 1000 ? mbps - 1000 : IBV_RATE_MAX;
}

int ibv_fork_init(void)
{
	return CALLED(0);
}

enum ibv_fork_status ibv_is_fork_initialized(void)
{
	CALLED(0);
	return fake_scripted_result();
}

// Members in the order of the structs, as C reads them.
#define PUT(value) (*numbers++ = (uint64_t)(value))

static uint64_t *list_device(uint64_t *numbers, const struct ibv_device_attr *a)
{
	PUT(be64toh(a->node_guid)), PUT(be64toh(a->sys_image_guid)), PUT(a->max_mr_size), PUT(a->page_size_cap);
	PUT((int)a->vendor_id), PUT((int)a->vendor_part_id), PUT((int)a->hw_ver), PUT(a->max_qp), PUT(a->max_qp_wr);
	PUT(a->device_cap_flags), PUT(a->max_sge), PUT(a->max_sge_rd), PUT(a->max_cq), PUT(a->max_cqe), PUT(a->max_mr);
	PUT(a->max_pd), PUT(a->max_qp_rd_atom), PUT(a->max_ee_rd_atom), PUT(a->max_res_rd_atom);
	PUT(a->max_qp_init_rd_atom), PUT(a->max_ee_init_rd_atom), PUT(a->atomic_cap), PUT(a->max_ee), PUT(a->max_rdd);
	PUT(a->max_mw), PUT(a->max_raw_ipv6_qp), PUT(a->max_raw_ethy_qp), PUT(a->max_mcast_grp);
	PUT(a->max_mcast_qp_attach), PUT(a->max_total_mcast_qp_attach), PUT(a->max_ah), PUT(a->max_fmr);
	PUT(a->max_map_per_fmr), PUT(a->max_srq), PUT(a->max_srq_wr), PUT(a->max_srq_sge), PUT(a->max_pkeys);
	PUT(a->local_ca_ack_delay), PUT(a->phys_port_cnt);
	return numbers;
}

uint64_t oracle_device(uint64_t *numbers)
{
	struct ibv_device_attr attr;
	fill_device(&attr);
	return list_device(numbers, &attr) - numbers;
}

uint64_t oracle_device_ex(uint64_t *numbers)
{
	uint64_t *first = numbers;
	struct ibv_device_attr_ex attr, *a = &attr;
	fill_device_ex(&attr);
	numbers = list_device(numbers, &attr.orig_attr);
	PUT(a->odp_caps.general_caps);
	PUT(a->odp_caps.per_transport_caps.rc_odp_caps), PUT(a->odp_caps.per_transport_caps.uc_odp_caps);
	PUT(a->odp_caps.per_transport_caps.ud_odp_caps), PUT(a->completion_timestamp_mask), PUT(a->hca_core_clock);
	PUT(a->device_cap_flags_ex), PUT(a->tso_caps.max_tso), PUT(a->tso_caps.supported_qpts);
	PUT(a->rss_caps.supported_qpts), PUT((int)a->rss_caps.max_rwq_indirection_tables);
	PUT((int)a->rss_caps.max_rwq_indirection_table_size), PUT(a->rss_caps.rx_hash_fields_mask);
	PUT(a->rss_caps.rx_hash_function), PUT((int)a->max_wq_type_rq), PUT(a->packet_pacing_caps.qp_rate_limit_min);
	PUT(a->packet_pacing_caps.qp_rate_limit_max), PUT(a->packet_pacing_caps.supported_qpts);
	PUT(a->raw_packet_caps), PUT((int)a->tm_caps.max_rndv_hdr_size), PUT((int)a->tm_caps.max_num_tags);
	PUT(a->tm_caps.flags), PUT((int)a->tm_caps.max_ops), PUT((int)a->tm_caps.max_sge);
	PUT(a->cq_mod_caps.max_cq_count), PUT(a->cq_mod_caps.max_cq_period), PUT(a->max_dm_size);
	PUT(a->pci_atomic_caps.fetch_add), PUT(a->pci_atomic_caps.swap), PUT(a->pci_atomic_caps.compare_swap);
	PUT(a->xrc_odp_caps), PUT((int)a->phys_port_cnt_ex);
	return numbers - first;
}

uint64_t oracle_port(uint64_t *numbers, int compat)
{
	uint64_t *first = numbers;
	uint32_t memory[FAKE_PORT_ATTR_SIZE / 4] = {0};
	struct ibv_port_attr *a = (struct ibv_port_attr *)memory;
	fill_port(a, compat ? offsetof(struct ibv_port_attr, port_cap_flags2) : FAKE_PORT_ATTR_SIZE);
	PUT(a->state), PUT(4096), PUT(1024), PUT(a->gid_tbl_len), PUT(a->port_cap_flags), PUT(a->max_msg_sz);
	PUT(a->bad_pkey_cntr), PUT(a->qkey_viol_cntr), PUT(a->pkey_tbl_len), PUT(a->lid), PUT(a->sm_lid), PUT(a->lmc);
	PUT(a->max_vl_num), PUT(a->sm_sl), PUT(a->subnet_timeout), PUT(a->init_type_reply), PUT(a->active_width);
	PUT(a->active_speed), PUT(a->phys_state), PUT(a->link_layer), PUT(a->flags), PUT(a->port_cap_flags2);
	PUT(memory[FAKE_ACTIVE_SPEED_EX / 4]);
	return numbers - first;
}

uint64_t oracle_udp_port(uint32_t flow_label)
{
	return ibv_flow_label_to_udp_sport(flow_label);
}

uint64_t oracle_clock(uint64_t *numbers)
{
	struct ibv_values_ex values;
	scribble(&values.raw_clock, sizeof(values.raw_clock));
	PUT(values.raw_clock.tv_sec), PUT(values.raw_clock.tv_nsec);
	return 2;
}

// Puts the functions of this file into a context.
void fake_serve_queries(struct ibv_context *context)
{
	struct verbs_context *extended = verbs_get_ctx(context);
	extended->query_port = fake_query_port;
	extended->query_device_ex = fake_query_device_ex;
	extended->query_rt_values = fake_query_rt_values;
}

// For the tests of descriptors.

int fake_open_null(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int fake_lowest_free_descriptor(void)
{
	int fd = fake_open_null();
	close(fd);
	return fd;
}
