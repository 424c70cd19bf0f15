// SPDX-License-Identifier: Apache-2.0
// Address handles and multicast groups of the stand-in, and a datagram's work request as a C program fills it.
#include "fakeverbs.h"

#include <errno.h>
#include <string.h>

static struct ibv_ah *make_handle(struct ibv_pd *pd)
{
	struct ibv_ah *ah = fake_make(FAKE_AH, sizeof(*ah), fake_users_of_pd(pd));
	ah->context = pd->context;
	ah->pd = pd;
	return ah;
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	int error = CALLED_WITH(attr, sizeof(*attr), FAKE_BITS(pd), FAKE_BITS(attr));
	if (error) {
		errno = error;
		return NULL;
	}
	return make_handle(pd);
}

struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc, struct ibv_grh *grh, uint8_t port_num)
{
	int error = CALLED_WITH(wc, sizeof(*wc), FAKE_BITS(pd), port_num);
	fake_append(grh, sizeof(*grh));
	if (error) {
		errno = error;
		return NULL;
	}
	return make_handle(pd);
}

// Answers with a way that is made of the completion and the header.
int ibv_init_ah_from_wc(struct ibv_context *context, uint8_t port_num, struct ibv_wc *wc, struct ibv_grh *grh,
			struct ibv_ah_attr *ah_attr)
{
	int error = CALLED(FAKE_BITS(context), port_num);
	memset(ah_attr, 0, sizeof(*ah_attr));
	ah_attr->is_global = 1;
	ah_attr->grh.dgid = grh->sgid;
	ah_attr->sl = wc->sl;
	ah_attr->port_num = port_num;
	return -error;
}

int ibv_destroy_ah(struct ibv_ah *ah)
{
	int error = CALLED(FAKE_BITS(ah));
	return error ? error : fake_destroy(FAKE_AH, ah, fake_users_of_pd(ah->pd));
}

// The address is the scripted result, the VLAN what is above its 48 bits.
int ibv_resolve_eth_l2_from_gid(struct ibv_context *context, struct ibv_ah_attr *attr, uint8_t mac[6], uint16_t *vid)
{
	int error = CALLED_WITH(attr, sizeof(*attr), FAKE_BITS(context));
	for (int i = 0; i < 6; i++)
		mac[i] = fake_scripted_result() >> (40 - 8 * i);
	*vid = fake_scripted_result() >> 48;
	return -error;
}

int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	return CALLED_WITH(gid, sizeof(*gid), FAKE_BITS(qp), lid);
}

int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	return CALLED_WITH(gid, sizeof(*gid), FAKE_BITS(qp), lid);
}

void oracle_datagram(struct ibv_send_wr *wr, struct ibv_ah *ah, uint32_t remote_qpn, uint32_t remote_qkey)
{
	wr->wr.ud.ah = ah;
	wr->wr.ud.remote_qpn = remote_qpn;
	wr->wr.ud.remote_qkey = remote_qkey;
}
