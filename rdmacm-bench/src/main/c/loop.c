// SPDX-License-Identifier: Apache-2.0
// What the Java benchmarks are compared with: the same loops in C, over the same objects of the same provider, through
// the inline functions of verbs.h.
#include <infiniband/verbs.h>

#include <stdint.h>
#include <stdlib.h>

enum { MAX_BATCH = 64 };

// What Java gives, as numbers of 64 bits.
struct given {
	struct ibv_qp **qps;
	struct ibv_mr **mrs;
	struct ibv_cq *cq; // begins an ibv_cq_ex, for extended calls
	int64_t extended;  // whether batches and polls in place, instead of ibv_post_send and ibv_poll_cq
	int64_t batch;     // requests a post
	int64_t polled;    // completions a poll at most
	int64_t sges;      // entries of the scatter list
	int64_t length;    // of each
	int64_t inlined;   // whether the data goes with the request
	int64_t qp_count;  // how many there are, in batches of one; each post takes another
	int64_t mr_count;
	int64_t data;      // whether each request is told its data anew, of another region
	int64_t ahead;     // whether completions of later requests may be there already
	// of the loop
	uint64_t id;
	int64_t qp;
	int64_t mr;
	struct ibv_send_wr wrs[MAX_BATCH];
	struct ibv_sge lists[MAX_BATCH][2];
	struct ibv_wc wcs[MAX_BATCH];
};

// How much memory a loop needs.
uint64_t loop_size(void)
{
	return sizeof(struct given);
}

void loop_prepare(struct given *loop)
{
	for (int i = 0; i < loop->batch; i++) {
		loop->wrs[i] = (struct ibv_send_wr){
			.next = i + 1 < loop->batch ? &loop->wrs[i + 1] : NULL,
			.sg_list = loop->lists[i],
			.num_sge = loop->sges,
			.opcode = IBV_WR_RDMA_WRITE,
			.send_flags = IBV_SEND_SIGNALED | (loop->inlined ? IBV_SEND_INLINE : 0),
			.wr.rdma = {.remote_addr = 0x10000, .rkey = 17},
		};
		for (int s = 0; s < loop->sges; s++)
			loop->lists[i][s] = (struct ibv_sge){
				.addr = (uintptr_t)loop->mrs[0]->addr + s * loop->length,
				.length = loop->length,
				.lkey = loop->mrs[0]->lkey,
			};
	}
}

static inline uint64_t poll(struct given *loop, int count, int most)
{
	uint64_t sum = 0;
	for (int wanted = count; wanted > 0;) {
		int taken = ibv_poll_cq(loop->cq, most, loop->wcs);
		for (int i = 0; i < taken; i++) {
			if (loop->wcs[i].status != IBV_WC_SUCCESS)
				abort();
			sum += loop->wcs[i].wr_id;
		}
		wanted -= taken;
	}
	return sum;
}

static uint64_t post_and_poll(struct given *loop, int operations)
{
	uint64_t sum = 0;
	struct ibv_send_wr *bad;
	struct ibv_qp *qp = loop->qps[0];
	int batch = loop->batch;
	int most = loop->polled < batch ? loop->polled : batch;
	for (int done = 0; done < operations; done += batch) {
		for (int i = 0; i < batch; i++)
			loop->wrs[i].wr_id = loop->id++;
		if (ibv_post_send(qp, loop->wrs, &bad))
			abort();
		sum += poll(loop, batch, most);
	}
	return sum;
}

static uint64_t post_and_poll_rotating(struct given *loop, int operations)
{
	uint64_t sum = 0;
	struct ibv_send_wr *bad;
	for (int done = 0; done < operations; done++) {
		if (loop->data) {
			loop->mr = loop->mr + 1 == loop->mr_count ? 0 : loop->mr + 1;
			loop->lists[0][0].addr = (uintptr_t)loop->mrs[loop->mr]->addr;
			loop->lists[0][0].length = loop->length;
			loop->lists[0][0].lkey = loop->mrs[loop->mr]->lkey;
		}
		loop->qp = loop->qp + 1 == loop->qp_count ? 0 : loop->qp + 1;
		loop->wrs[0].wr_id = loop->id++;
		if (ibv_post_send(loop->qps[loop->qp], loop->wrs, &bad))
			abort();
		sum += poll(loop, 1, 1);
	}
	return sum;
}

static uint64_t post_and_poll_extended(struct given *loop, int operations)
{
	uint64_t sum = 0;
	struct ibv_qp_ex *qp = (struct ibv_qp_ex *)loop->qps[0];
	struct ibv_cq_ex *cq = (struct ibv_cq_ex *)loop->cq;
	uint64_t address = (uintptr_t)loop->mrs[0]->addr;
	uint32_t key = loop->mrs[0]->lkey;
	for (int done = 0; done < operations; done += loop->batch) {
		ibv_wr_start(qp);
		for (int i = 0; i < loop->batch; i++) {
			qp->wr_id = loop->id++;
			qp->wr_flags = IBV_SEND_SIGNALED | (loop->inlined ? IBV_SEND_INLINE : 0);
			ibv_wr_rdma_write(qp, 17, 0x10000);
			if (loop->inlined)
				ibv_wr_set_inline_data(qp, (void *)address, loop->length);
			else if (loop->sges == 1)
				ibv_wr_set_sge(qp, key, address, loop->length);
			else
				ibv_wr_set_sge_list(qp, loop->sges, loop->lists[0]);
		}
		if (ibv_wr_complete(qp))
			abort();
		for (int wanted = loop->batch; wanted > 0;) {
			struct ibv_poll_cq_attr attr = {0};
			int error = ibv_start_poll(cq, &attr);
			if (error)
				continue;
			for (; !error; error = ibv_next_poll(cq)) {
				if (cq->status != IBV_WC_SUCCESS)
					abort();
				sum += cq->wr_id;
				if (--wanted == 0 && loop->ahead)
					break;
			}
			ibv_end_poll(cq);
		}
	}
	return sum;
}

uint64_t loop_run(struct given *loop, int operations)
{
	if (loop->extended)
		return post_and_poll_extended(loop, operations);
	if (loop->qp_count > 1 || loop->data)
		return post_and_poll_rotating(loop, operations);
	return post_and_poll(loop, operations);
}
