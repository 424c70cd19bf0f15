// SPDX-License-Identifier: Apache-2.0
// Work requests and completions as a C program fills and reads them: what the Java classes are compared with.
#include "fakeverbs.h"

#include <arpa/inet.h>

struct oracle_send {
	uint64_t id;
	struct ibv_sge *list;
	uint32_t entries;
	uint32_t opcode;
	uint32_t flags;
	uint32_t immediate_or_key; // the immediate value in the byte order of the machine
	uint64_t remote_addr;
	uint64_t compare_add;
	uint64_t swap;
	uint32_t rkey;
};

void oracle_send(struct ibv_send_wr *wr, const struct oracle_send *values)
{
	*wr = (struct ibv_send_wr){
		.wr_id = values->id,
		.sg_list = values->list,
		.num_sge = values->entries,
		.opcode = values->opcode,
		.send_flags = values->flags,
	};
	switch (wr->opcode) {
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		wr->imm_data = htonl(values->immediate_or_key);
		// fall through
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_READ:
		wr->wr.rdma.remote_addr = values->remote_addr;
		wr->wr.rdma.rkey = values->rkey;
		break;
	case IBV_WR_SEND_WITH_IMM:
		wr->imm_data = htonl(values->immediate_or_key);
		break;
	case IBV_WR_SEND_WITH_INV:
	case IBV_WR_LOCAL_INV:
		wr->invalidate_rkey = values->immediate_or_key;
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		wr->wr.atomic.swap = values->swap;
		// fall through
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		wr->wr.atomic.remote_addr = values->remote_addr;
		wr->wr.atomic.compare_add = values->compare_add;
		wr->wr.atomic.rkey = values->rkey;
		break;
	default:
		break;
	}
}

void oracle_send_tso(struct ibv_send_wr *wr, struct ibv_sge *list, void *header, uint16_t header_size, uint16_t mss)
{
	*wr = (struct ibv_send_wr){
		.sg_list = list,
		.num_sge = 1,
		.opcode = IBV_WR_TSO,
		.send_flags = IBV_SEND_SIGNALED,
		.tso = {.hdr = header, .hdr_sz = header_size, .mss = mss},
	};
}

void oracle_receive(struct ibv_recv_wr *wr, uint64_t id, struct ibv_sge *list, int entries)
{
	*wr = (struct ibv_recv_wr){.wr_id = id, .sg_list = list, .num_sge = entries};
}

void oracle_entry(struct ibv_sge *entry, uint64_t addr, uint32_t length, uint32_t lkey)
{
	*entry = (struct ibv_sge){.addr = addr, .length = length, .lkey = lkey};
}

void oracle_completion(struct ibv_wc *wc, uint64_t id, int status, int opcode, uint32_t vendor_err, uint32_t byte_len,
		       uint32_t immediate, uint32_t qp_num, uint32_t src_qp, unsigned int flags)
{
	*wc = (struct ibv_wc){
		.wr_id = id,
		.status = status,
		.opcode = opcode,
		.vendor_err = vendor_err,
		.byte_len = byte_len,
		.imm_data = htonl(immediate),
		.qp_num = qp_num,
		.src_qp = src_qp,
		.wc_flags = flags,
	};
}

// The numbers: is_global, flow_label, sgid_index, hop_limit, traffic_class, dlid, sl, src_path_bits, static_rate, port.
void oracle_address(struct ibv_ah_attr *attr, const union ibv_gid *gid, const uint32_t *numbers)
{
	*attr = (struct ibv_ah_attr){
		.grh = {
			.dgid = *gid,
			.flow_label = numbers[1],
			.sgid_index = numbers[2],
			.hop_limit = numbers[3],
			.traffic_class = numbers[4],
		},
		.is_global = numbers[0],
		.dlid = numbers[5],
		.sl = numbers[6],
		.src_path_bits = numbers[7],
		.static_rate = numbers[8],
		.port_num = numbers[9],
	};
}
