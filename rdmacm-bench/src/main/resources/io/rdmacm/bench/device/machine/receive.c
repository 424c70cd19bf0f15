// SPDX-License-Identifier: Apache-2.0
//
// Preloaded into cmtime, which posts no receive: posts one to each queue pair, as every program does that takes
// messages. The first post is the first touch of the queue's memory.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <rdma/rdma_cma.h>

int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *domain, struct ibv_qp_init_attr *attributes) {
    int (*create)(struct rdma_cm_id *, struct ibv_pd *, struct ibv_qp_init_attr *) =
        (int (*)(struct rdma_cm_id *, struct ibv_pd *, struct ibv_qp_init_attr *)) dlsym(RTLD_NEXT, "rdma_create_qp");
    int error = create(id, domain, attributes);
    struct ibv_recv_wr *refused;
    return error != 0 ? error : ibv_post_recv(id->qp, &(struct ibv_recv_wr) {.num_sge = 0}, &refused);
}
