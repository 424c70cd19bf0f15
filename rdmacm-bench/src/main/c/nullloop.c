// SPDX-License-Identifier: Apache-2.0
// What the Java benchmarks are compared with: the same loops in C, over the same provider, through the inline functions
// of verbs.h. Prints the nanoseconds of one post and the poll of its completion, a median on each line.
// Built twice: over the null provider, and over libibverbs, for a driver on the stand-in for its card.
#include <infiniband/verbs.h>

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_BATCH = 64, SIZE = 64, CHUNK = 1 << 14 };

// What the command line says, as name=number.
static struct {
	const char *name;
	int number;
	int least;
	int most;
} options[] = {
	{"extended", 0, 0, 1},           // whether batches and polls in place, instead of ibv_post_send and ibv_poll_cq
	{"batch", 1, 1, MAX_BATCH},      // requests a post
	{"polled", MAX_BATCH, 1, MAX_BATCH}, // completions a poll at most
	{"sges", 1, 1, 2},               // entries of the scatter list
	{"inline", 0, 0, 1},             // whether the data goes with the request
	{"depth", 64, 1, 4096},          // entries of each queue
	{"completions", 0, 0, CHUNK},    // entries of the completion queue; 0 for as many as the others have
	{"queuePairs", 1, 1, 100000},    // how many there are
	{"regions", 1, 1, 100000},       // how many there are
	{"rotate", 0, 0, 1},             // whether to take another of these each time, in batches of one
	{"data", 0, 0, 1},               // whether each request is told its data anew, when these rotate
	{"seed", 0, 0, 1000000},         // of where the stack and the objects lie, within a page; 0 for where they fall
	{"millis", 200, 0, 100000},      // of each sample
	{"samples", 5, 1, 100000},       // how many
	{"warmUps", 2, 0, 100000},       // samples before those that are printed
};

static struct {
	int extended, batch, polled, sges, inlined, depth, completions, queue_pairs, regions, rotate, data, seed, millis;
	int samples, warmups;
} given;

static struct ibv_cq *cq;
static struct ibv_cq_ex *cq_ex;
static struct ibv_qp **qps;
static struct ibv_qp_ex **qps_ex;
static struct ibv_mr **mrs;
static uint64_t checksum;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void *present(void *made, const char *what)
{
	if (!made)
		fail(what);
	return made;
}

// Which lines of the caches collide is a matter of luck, of some ten percent: so it is drawn anew for each run.
static size_t shift(void)
{
	return given.seed ? rand() % 4096 / 16 * 16 : 0;
}

// What was made in a row is not used in a row, which the processor would foresee.
static void shuffle(void **array, int count)
{
	for (int i = count - 1; i > 0; i--) {
		int j = rand() % (i + 1);
		void *moved = array[i];
		array[i] = array[j];
		array[j] = moved;
	}
}

// Not in the null provider.
#pragma weak ibv_modify_qp

// The driver of a card refuses requests before the state RTS. Nothing is sent.
static void ready(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		fail("to INIT");
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = qp->qp_num,
		.ah_attr = {.is_global = 1, .grh = {.dgid.raw = {[10] = 0xff, 0xff, 127, 0, 0, 1}}, .port_num = 1},
	};
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
		fail("to RTR");
	attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS};
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			  IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC))
		fail("to RTS");
}

static void set_up(void)
{
	struct ibv_device **list = present(ibv_get_device_list(NULL), "ibv_get_device_list");
	struct ibv_context *context = present(ibv_open_device(list[0]), "ibv_open_device");
	struct ibv_pd *pd = present(ibv_alloc_pd(context), "ibv_alloc_pd");
	ibv_free_device_list(list);
	qps = present(calloc(given.queue_pairs, sizeof(*qps)), "calloc");
	qps_ex = present(calloc(given.queue_pairs, sizeof(*qps_ex)), "calloc");
	mrs = present(calloc(given.regions, sizeof(*mrs)), "calloc");
	int completions = given.completions ? given.completions : given.depth;
	present(malloc(shift() + 1), "malloc");
	if (given.extended) {
		struct ibv_cq_init_attr_ex attr = {.cqe = completions, .wc_flags = IBV_WC_STANDARD_FLAGS};
		cq_ex = present(ibv_create_cq_ex(context, &attr), "ibv_create_cq_ex");
		cq = ibv_cq_ex_to_cq(cq_ex);
	} else {
		cq = present(ibv_create_cq(context, completions, NULL, NULL, 0), "ibv_create_cq");
	}
	for (int i = 0; i < given.regions; i++) {
		void *memory = present(aligned_alloc(4096, 4096), "aligned_alloc");
		memset(memory, 0, 4096);
		mrs[i] = present(ibv_reg_mr(pd, memory, 4096, IBV_ACCESS_LOCAL_WRITE), "ibv_reg_mr");
	}
	present(malloc(shift() + 1), "malloc");
	for (int i = 0; i < given.queue_pairs; i++) {
		struct ibv_qp_init_attr_ex attr = {
			.send_cq = cq,
			.recv_cq = cq,
			.cap = {.max_send_wr = given.depth, .max_send_sge = 2, .max_inline_data = 32},
			.qp_type = IBV_QPT_RC,
			.comp_mask = IBV_QP_INIT_ATTR_PD | (given.extended ? IBV_QP_INIT_ATTR_SEND_OPS_FLAGS : 0),
			.pd = pd,
			.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE,
		};
		qps[i] = present(ibv_create_qp_ex(context, &attr), "ibv_create_qp_ex");
		qps_ex[i] = ibv_qp_to_qp_ex(qps[i]);
		if (given.completions)
			ready(qps[i]);
	}
	if (given.rotate) {
		shuffle((void **)qps, given.queue_pairs);
		shuffle((void **)mrs, given.regions);
	}
}

// Length of each entry: what is inline fits into the queue entry.
static uint32_t length(void)
{
	return given.inlined ? 16 / given.sges : SIZE / given.sges;
}

static struct ibv_send_wr *wrs;
static struct ibv_sge (*sges)[2];
static struct ibv_wc *wcs;

// Of its own, within the page.
static void *place(size_t size)
{
	char *memory = present(aligned_alloc(64, (size + 4096 + 63) / 64 * 64), "aligned_alloc");
	return memory + shift();
}

static void fill_requests(void)
{
	wrs = place(MAX_BATCH * sizeof(*wrs));
	sges = place(MAX_BATCH * sizeof(*sges));
	wcs = place(MAX_BATCH * sizeof(*wcs));
	for (int i = 0; i < given.batch; i++) {
		wrs[i] = (struct ibv_send_wr){
			.next = i + 1 < given.batch ? &wrs[i + 1] : NULL,
			.sg_list = sges[i],
			.num_sge = given.sges,
			.opcode = IBV_WR_RDMA_WRITE,
			.send_flags = IBV_SEND_SIGNALED | (given.inlined ? IBV_SEND_INLINE : 0),
			.wr.rdma = {.remote_addr = 0x10000, .rkey = 17},
		};
		for (int s = 0; s < given.sges; s++)
			sges[i][s] = (struct ibv_sge){
				.addr = (uintptr_t)mrs[0]->addr + s * length(),
				.length = length(),
				.lkey = mrs[0]->lkey,
			};
	}
}

static inline void poll(int count, int most)
{
	for (int wanted = count; wanted > 0;) {
		int taken = ibv_poll_cq(cq, most, wcs);
		if (taken < 0)
			fail("ibv_poll_cq");
		for (int i = 0; i < taken; i++) {
			if (wcs[i].status != IBV_WC_SUCCESS)
				fail("completion");
			checksum += wcs[i].wr_id;
		}
		wanted -= taken;
	}
}

static void post_and_poll(uint64_t operations)
{
	static uint64_t id;
	struct ibv_send_wr *bad;
	struct ibv_qp *qp = qps[0];
	int batch = given.batch;
	int most = given.polled < batch ? given.polled : batch;
	for (uint64_t done = 0; done < operations; done += batch) {
		for (int i = 0; i < batch; i++)
			wrs[i].wr_id = id++;
		if (ibv_post_send(qp, wrs, &bad))
			fail("ibv_post_send");
		poll(batch, most);
	}
}

// Each post to another queue pair, and of another region.
static void post_and_poll_rotating(uint64_t operations)
{
	static uint64_t id;
	static int pair;
	static int region;
	struct ibv_send_wr *bad;
	for (uint64_t done = 0; done < operations; done++) {
		if (given.data) {
			region = region + 1 == given.regions ? 0 : region + 1;
			sges[0][0].addr = (uintptr_t)mrs[region]->addr;
			sges[0][0].length = length();
			sges[0][0].lkey = mrs[region]->lkey;
		}
		pair = pair + 1 == given.queue_pairs ? 0 : pair + 1;
		wrs[0].wr_id = id++;
		if (ibv_post_send(qps[pair], wrs, &bad))
			fail("ibv_post_send");
		poll(1, 1);
	}
}

static void post_and_poll_extended(uint64_t operations)
{
	static uint64_t id;
	struct ibv_qp_ex *qp = qps_ex[0];
	uint64_t address = (uintptr_t)mrs[0]->addr;
	uint32_t key = mrs[0]->lkey;
	struct ibv_sge list[2] = {
		{.addr = address, .length = length(), .lkey = key},
		{.addr = address + length(), .length = length(), .lkey = key},
	};
	for (uint64_t done = 0; done < operations; done += given.batch) {
		ibv_wr_start(qp);
		for (int i = 0; i < given.batch; i++) {
			qp->wr_id = id++;
			qp->wr_flags = IBV_SEND_SIGNALED | (given.inlined ? IBV_SEND_INLINE : 0);
			ibv_wr_rdma_write(qp, 17, 0x10000);
			if (given.inlined)
				ibv_wr_set_inline_data(qp, (void *)address, length());
			else if (given.sges == 1)
				ibv_wr_set_sge(qp, key, address, length());
			else
				ibv_wr_set_sge_list(qp, given.sges, list);
		}
		if (ibv_wr_complete(qp))
			fail("ibv_wr_complete");
		for (int wanted = given.batch; wanted > 0;) {
			struct ibv_poll_cq_attr attr = {0};
			int error = ibv_start_poll(cq_ex, &attr);
			if (error)
				continue;
			for (; !error; error = ibv_next_poll(cq_ex)) {
				if (cq_ex->status != IBV_WC_SUCCESS)
					fail("completion");
				checksum += cq_ex->wr_id;
				// Those of later requests may be there already.
				if (--wanted == 0 && given.completions)
					break;
			}
			ibv_end_poll(cq_ex);
		}
	}
}

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1e9 + time.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
	double difference = *(const double *)a - *(const double *)b;
	return (difference > 0) - (difference < 0);
}

// The median of short runs: those in which something else had the processor do not count.
static double __attribute__((noinline)) sample(void)
{
	enum { MOST_RUNS = 1 << 20 };
	static double runs[MOST_RUNS];
	// The stand-in for a card has completions ready, which takes no time of the loop.
	void (*foresee)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "kernel_foresee");
	// It has as many as the completion queue has entries.
	int operations = given.completions ? given.completions + 1 : CHUNK;
	int count = 0;
	double first = now();
	double end;
	do {
		if (foresee)
			foresee();
		double begin = now();
		if (given.extended)
			post_and_poll_extended(operations);
		else if (given.rotate)
			post_and_poll_rotating(operations);
		else
			post_and_poll(operations);
		end = now();
		runs[count++] = (end - begin) / operations;
	} while (end - first < given.millis * 1e6 && count < MOST_RUNS);
	qsort(runs, count, sizeof(*runs), by_size);
	return runs[count / 2];
}

static void read_options(int argc, char **argv)
{
	int count = sizeof(options) / sizeof(*options);
	for (int i = 1; i < argc; i++) {
		size_t length = strcspn(argv[i], "=");
		int o = 0;
		while (o < count && (strlen(options[o].name) != length || strncmp(options[o].name, argv[i], length) != 0))
			o++;
		int number = argv[i][length] ? atoi(argv[i] + length + 1) : -1;
		if (o == count || number < options[o].least || number > options[o].most) {
			fprintf(stderr, "%s: there is no option %s\n", argv[0], argv[i]);
			exit(2);
		}
		options[o].number = number;
	}
	_Static_assert(sizeof(given) / sizeof(int) == sizeof(options) / sizeof(*options), "each has its place");
	for (int o = 0; o < count; o++)
		((int *)&given)[o] = options[o].number;
}

int main(int argc, char **argv)
{
	read_options(argc, argv);
	srand(given.seed);
	char *lower = __builtin_alloca(shift() + 1);
	asm volatile("" : : "r"(lower) : "memory");
	set_up();
	fill_requests();
	for (int i = -given.warmups; i < given.samples; i++) {
		double nanos = sample();
		if (i >= 0)
			printf("%.4f\n", nanos);
	}
	return checksum == 0;
}
