// SPDX-License-Identifier: Apache-2.0
/*
 * What jextract reads: librdmacm, libibverbs, and the few things of the C library that their callers need.
 *
 * The members of pthread_mutex_t and pthread_cond_t are the C library's own business and differ from one architecture
 * to the next, but both types are embedded in ibv_context, ibv_cq, ibv_qp, ibv_srq and ibv_wq. They become opaque here,
 * with size and alignment kept. The size of the mutex is then made to follow the architecture: see Generate.java.
 */
#ifndef RDMACM_H
#define RDMACM_H

#include <stdint.h>
#ifndef UINTPTR_MAX
/* Two copies of clang's own headers on the search path shadow those of the C library. */
#error "stdint.h defines no UINTPTR_MAX, so verbs_api.h would be taken for that of a 32-bit machine"
#endif
#include <pthread.h>

union opaque_pthread_mutex {
    char bytes[sizeof(pthread_mutex_t)];
    long align;
};

union opaque_pthread_cond {
    char bytes[sizeof(pthread_cond_t)];
    long align;
};

#define pthread_mutex_t union opaque_pthread_mutex
#define pthread_cond_t union opaque_pthread_cond

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <linux/membarrier.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <infiniband/ib.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <rdma/rsocket.h>

#endif
