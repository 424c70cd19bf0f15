// SPDX-License-Identifier: Apache-2.0
// A server whose client and itself tell each other where their memory is in private data: it writes to that of the
// client, waits for a message, and prints what the client has written to its own.
#include <endian.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#define CHECK(call) do { if (call) { perror(#call); return 1; } } while (0)

// as Java's RemoteMemory is encoded
struct memory {
    uint64_t address;
    uint32_t key;
    uint64_t length;
} __attribute__((packed));

static char own[64];
static char source[64] = "written by C";
static char message[16];

int main(int argc, char **argv) {
    struct rdma_addrinfo hints = {.ai_flags = RAI_PASSIVE | RAI_NUMERICHOST, .ai_port_space = RDMA_PS_TCP}, *found;
    struct ibv_qp_init_attr attributes = {.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1,
            .max_recv_sge = 1}, .qp_type = IBV_QPT_RC};
    struct rdma_cm_id *listener, *id;
    struct ibv_mr *target, *local, *receive;
    struct ibv_wc completion;
    struct memory client, server;

    if (argc != 2) {
        return 2;
    }
    CHECK(rdma_getaddrinfo(argv[1], NULL, &hints, &found));
    CHECK(rdma_create_ep(&listener, found, NULL, &attributes));
    rdma_freeaddrinfo(found);
    CHECK(rdma_listen(listener, 1));
    printf("port %d\n", be16toh(rdma_get_src_port(listener)));
    fflush(stdout);
    CHECK(rdma_get_request(listener, &id));
    if (id->event->param.conn.private_data_len < sizeof client) {
        return 3;
    }
    memcpy(&client, id->event->param.conn.private_data, sizeof client);
    target = ibv_reg_mr(id->pd, own, sizeof own, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    local = rdma_reg_msgs(id, source, sizeof source);
    receive = rdma_reg_msgs(id, message, sizeof message);
    if (!target || !local || !receive) {
        perror("ibv_reg_mr");
        return 1;
    }
    CHECK(rdma_post_recv(id, NULL, message, sizeof message, receive));
    server.address = htobe64((uintptr_t) own);
    server.key = htobe32(target->rkey);
    server.length = htobe64(sizeof own);
    struct rdma_conn_param parameters = {.private_data = &server, .private_data_len = sizeof server,
            .responder_resources = 1, .initiator_depth = 1, .rnr_retry_count = 7};
    CHECK(rdma_accept(id, &parameters));
    CHECK(rdma_post_write(id, NULL, source, sizeof source, local, IBV_SEND_SIGNALED, be64toh(client.address),
            be32toh(client.key)));
    CHECK(rdma_get_send_comp(id, &completion) != 1 || completion.status);
    CHECK(rdma_get_recv_comp(id, &completion) != 1 || completion.status);
    printf("%lu bytes, %s\n", (unsigned long) be64toh(client.length), own);
    fflush(stdout);
    CHECK(rdma_post_send(id, NULL, source, 1, local, IBV_SEND_SIGNALED));
    CHECK(rdma_get_send_comp(id, &completion) != 1 || completion.status);
    rdma_disconnect(id);
    rdma_dereg_mr(receive);
    rdma_dereg_mr(local);
    ibv_dereg_mr(target);
    rdma_destroy_ep(id);
    rdma_destroy_ep(listener);
    return 0;
}
