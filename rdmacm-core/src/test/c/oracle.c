// SPDX-License-Identifier: Apache-2.0
// What C makes of the same values, for the tests to compare with.
#include <arpa/inet.h>
#include <rdma/rdma_cma.h>
#include <stdint.h>
#include <string.h>

void oracle_conn_param(struct rdma_conn_param *param, uint8_t resources, uint8_t depth, uint8_t flow, uint8_t retry,
		       uint8_t rnr, uint8_t srq, uint32_t qp_num)
{
	param->responder_resources = resources;
	param->initiator_depth = depth;
	param->flow_control = flow;
	param->retry_count = retry;
	param->rnr_retry_count = rnr;
	param->srq = srq;
	param->qp_num = qp_num;
}

void oracle_ud_param(struct rdma_ud_param *param, const void *data, uint8_t length, const struct ibv_ah_attr *path,
		     uint32_t qp_num, uint32_t qkey)
{
	*param = (struct rdma_ud_param) {
		.private_data = data,
		.private_data_len = length,
		.ah_attr = *path,
		.qp_num = qp_num,
		.qkey = qkey,
	};
}

// The port in the byte order of the machine; 4 bytes of an address or 16. Returns the size.
uint64_t oracle_inet(struct sockaddr_storage *storage, const uint8_t *address, int bytes, uint16_t port, uint32_t scope)
{
	memset(storage, 0, sizeof(*storage));
	if (bytes == 4) {
		struct sockaddr_in *four = (struct sockaddr_in *) storage;
		four->sin_family = AF_INET;
		four->sin_port = htons(port);
		memcpy(&four->sin_addr, address, 4);
		return sizeof(*four);
	}
	struct sockaddr_in6 *six = (struct sockaddr_in6 *) storage;
	six->sin6_family = AF_INET6;
	six->sin6_port = htons(port);
	six->sin6_scope_id = scope;
	memcpy(&six->sin6_addr, address, 16);
	return sizeof(*six);
}

void oracle_ece(struct ibv_ece *ece, uint32_t vendor, uint32_t options)
{
	*ece = (struct ibv_ece) {.vendor_id = vendor, .options = options};
}

// The numbers: flags, family, type of queue pairs, port space, size of the source.
void oracle_hints(struct rdma_addrinfo *hints, const int *n, struct sockaddr *source)
{
	*hints = (struct rdma_addrinfo) {
		.ai_flags = n[0],
		.ai_family = n[1],
		.ai_qp_type = n[2],
		.ai_port_space = n[3],
		.ai_src_len = n[4],
		.ai_src_addr = source,
	};
}
