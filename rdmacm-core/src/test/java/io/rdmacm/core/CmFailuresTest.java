// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import org.junit.jupiter.api.Test;

/** What the exceptions of the connection manager tell. */
class CmFailuresTest {
    private static final byte[] NOTHING = {};

    @Test
    void reasonsHaveTheNumbersOfTheSpecification() {
        for (RejectReason reason : RejectReason.values()) {
            assertThat(RejectReason.of(reason.value())).isSameAs(reason);
        }
        assertThat(RejectReason.of(8)).isSameAs(RejectReason.INVALID_SERVICE_ID);
        assertThat(RejectReason.of(28)).isSameAs(RejectReason.CONSUMER_DEFINED);
        assertThat(RejectReason.of(2)).isSameAs(RejectReason.OTHER);
    }

    @Test
    void aRejectTellsItsReasonAndWhatThePeerSent() {
        byte[] data = {0, 7, 0};
        RejectedException rejected = new RejectedException("connecting", 28, data);
        assertThat(rejected).hasMessage("connecting: rejected by the peer, reason 28 (CONSUMER_DEFINED), with private"
                + " data");
        assertThat(rejected.reason()).isSameAs(RejectReason.CONSUMER_DEFINED);
        assertThat(rejected.status()).isEqualTo(28);
        rejected.privateData()[1] = 8;
        assertThat(rejected.privateData()).containsExactly(data);

        // padded with zeros by the protocol
        assertThat(new RejectedException("connecting", 8, new byte[148])).hasMessage(
                "connecting: rejected by the peer, reason 8 (INVALID_SERVICE_ID): nobody listens on this port");
    }

    @Test
    void tcpTellsTheFunctionThatNobodyListens() {
        RejectedException nobody = new RejectedException("rdma_connect", "192.0.2.7:1");
        assertThat(nobody).hasMessageMatching("rdma_connect \\(192.0.2.7:1\\): rejected by the peer, reason -111"
                + " \\(ECONNREFUSED, .+\\): nobody listens on this port");
        assertThat(nobody.reason()).isSameAs(RejectReason.INVALID_SERVICE_ID);
        assertThat(nobody.status()).isEqualTo(-Rdma.ECONNREFUSED());
        assertThat(nobody.privateData()).isEmpty();

        // what devices tell later when the program there has refused
        RejectedException refused = new RejectedException("connecting", -Rdma.ECONNREFUSED(), NOTHING);
        assertThat(refused).hasMessageContaining("ECONNREFUSED").hasMessageNotContaining("nobody listens");
        assertThat(refused.reason()).isSameAs(RejectReason.OTHER);
    }

    @Test
    void whoCannotBeReachedSaysWhy() {
        RdmaException event = CmFailures.of(CmEventType.ADDR_ERROR, -Rdma.ENODEV(), NOTHING, "resolving");
        assertThat(event).isInstanceOfSatisfying(UnreachableException.class,
                e -> assertThat(e.status()).isEqualTo(-Rdma.ENODEV()))
                .hasMessageStartingWith("resolving: the peer cannot be reached: ADDR_ERROR, status -19 (ENODEV, ");
        // positive from librdmacm
        assertThat(CmFailures.of(CmEventType.ADDRINFO_ERROR, Rdma.ENODEV(), NOTHING, "resolving"))
                .hasMessageContaining("status -19 (ENODEV, ");
        assertThat(CmFailures.of(CmEventType.CONNECT_ERROR, 0, NOTHING, "connecting"))
                .hasMessage("connecting: CONNECT_ERROR, status 0");
        assertThat(CmFailures.of(CmEventType.CONNECT_ERROR, -1, NOTHING, "connecting"))
                .isInstanceOfSatisfying(DisconnectedException.class, e -> assertThat(e.reason())
                        .isSameAs(DisconnectedException.Reason.PEER_GAVE_UP))
                .hasMessage("connecting: CONNECT_ERROR, status -1, the queue pair cannot be connected any more: the"
                        + " peer has given up the handshake");
    }

    @Test
    void someErrorsOfCallsMeanThatThePeerCannotBeReached() throws RdmaException {
        assertThat(new UnreachableException("rdma_bind_addr", Rdma.EADDRNOTAVAIL(), "192.0.2.7").status())
                .isEqualTo(-Rdma.EADDRNOTAVAIL());
        NativeFunction close = NativeFunction.of("rdma_bind_addr");
        CmFailures.check(close, 0, "nothing has failed");
    }

    @Test
    void anAddressOfInfinibandIsItsBytes() {
        byte[] bytes = new byte[48];
        bytes[0] = (byte) Rdma.AF_IB();
        for (int i = 8; i < 24; i++) {
            bytes[i] = (byte) i;
        }
        IbSocketAddress address = IbSocketAddress.ofBytes(bytes);
        assertThat(address.gid().toBytes()).startsWith(8, 9).endsWith(22, 23);
        assertThat(IbSocketAddress.of(address.gid())).isEqualTo(address).hasSameHashCodeAs(address);
        bytes[47] = 1;
        assertThat(IbSocketAddress.ofBytes(bytes)).isNotEqualTo(address);
        assertThat(address).hasToString("sockaddr_ib 1b00000000000000" + "08090a0b0c0d0e0f1011121314151617"
                + "00".repeat(24));
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> IbSocketAddress.ofBytes(new byte[47]));
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> IbSocketAddress.ofBytes(new byte[48]))
                .withMessage("the family of a struct sockaddr_ib is AF_IB (27), not 0");
    }
}
