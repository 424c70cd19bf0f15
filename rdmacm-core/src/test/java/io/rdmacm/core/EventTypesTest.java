// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

import io.rdmacm.core.testing.FakeRdmaCm;
import io.rdmacm.core.testing.Loopback;
import io.rdmacm.verbs.error.RdmaException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** All event types, also those that no test can make a device give: delivered, decoded, and ending waits. */
@FakeRdmaCm.With
class EventTypesTest {
    private static final Map<CmEventType, Class<? extends RdmaException>> ENDING = Map.of(
            CmEventType.ADDR_ERROR, UnreachableException.class, CmEventType.ROUTE_ERROR, UnreachableException.class,
            CmEventType.UNREACHABLE, UnreachableException.class, CmEventType.REJECTED, RejectedException.class,
            CmEventType.CONNECT_ERROR, RdmaException.class, CmEventType.DISCONNECTED, DisconnectedException.class,
            CmEventType.DEVICE_REMOVAL, DeviceRemovedException.class, CmEventType.MULTICAST_ERROR,
            RdmaException.class, CmEventType.ADDRINFO_ERROR, UnreachableException.class);
    private static final Set<CmEventType> WITH_PARAMETERS = EnumSet.of(CmEventType.CONNECT_REQUEST,
            CmEventType.CONNECT_RESPONSE, CmEventType.ESTABLISHED, CmEventType.REJECTED, CmEventType.DISCONNECTED);

    @ParameterizedTest
    @EnumSource(CmEventType.class)
    void eachTypeIsDeliveredAndOnlyItsMembersAreReadable(CmEventType type) throws Exception {
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, PortSpace.TCP)) {
            FakeRdmaCm.event(id, type);
            try (CmEvent event = channel.getEvent(Loopback.TIMEOUT)) {
                assertThat(event.type()).isEqualTo(type);
                if (type == CmEventType.CONNECT_REQUEST) {
                    assertThat(event.listener()).contains(id);
                    event.id().close();
                } else {
                    assertThat(event.id()).isSameAs(id);
                    assertThat(event.listener()).isEmpty();
                }
                if (WITH_PARAMETERS.contains(type)) {
                    assertThat(event.connectionParameters().privateData()).isEmpty();
                } else {
                    assertThatThrownBy(event::connectionParameters).isInstanceOf(IllegalStateException.class);
                }
                if (type == CmEventType.USER) {
                    assertThat(event.argument()).isZero();
                } else {
                    assertThatThrownBy(event::argument).isInstanceOf(IllegalStateException.class);
                }
                if (type == CmEventType.MULTICAST_JOIN) {
                    assertThat(event.datagramParameters().privateData()).isEmpty();
                } else {
                    assertThatThrownBy(event::datagramParameters).isInstanceOf(IllegalStateException.class);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(CmEventType.class)
    void aWaitForSomethingElseEndsWithEachTypeThatEndsTheHope(CmEventType type) throws Exception {
        CmEventType expected = type == CmEventType.ADDR_RESOLVED ? CmEventType.ESTABLISHED : CmEventType.ADDR_RESOLVED;
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, PortSpace.TCP)) {
            FakeRdmaCm.event(id, type);
            FakeRdmaCm.event(id, expected);
            if (ENDING.containsKey(type)) {
                assertThatThrownBy(() -> channel.await(id, expected, Loopback.TIMEOUT))
                        .isInstanceOf(ENDING.get(type)).hasMessageContaining(expected.name());
                channel.await(id, expected, Loopback.TIMEOUT).close();
            } else {
                channel.await(id, expected, Loopback.TIMEOUT).close();
                try (CmEvent event = channel.getEvent(Loopback.TIMEOUT)) {
                    assertThat(event.type()).isEqualTo(type);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(CmEventType.class)
    void datagramIdsHaveDatagramParameters(CmEventType type) throws Exception {
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, PortSpace.UDP)) {
            FakeRdmaCm.event(id, type);
            try (CmEvent event = channel.getEvent(Loopback.TIMEOUT)) {
                assertThatThrownBy(event::connectionParameters).isInstanceOf(IllegalStateException.class);
                switch (type) {
                    case CONNECT_REQUEST -> {
                        assertThat(event.datagramParameters().address()).isEmpty();
                        event.id().close();
                    }
                    case ESTABLISHED, MULTICAST_JOIN -> assertThat(event.datagramParameters().queueKey()).isZero();
                    default -> assertThatThrownBy(event::datagramParameters)
                            .isInstanceOf(IllegalStateException.class);
                }
            }
        }
    }

    @Test
    void anEventChannelClosesOnlyAfterTheEventsOfAllItsIds() throws Exception {
        EventChannel channel = EventChannel.open();
        try (CmId id = CmId.open(channel, PortSpace.TCP)) {
            FakeRdmaCm.event(id, CmEventType.ADDR_CHANGE);
            try (CmEvent event = channel.getEvent(Loopback.TIMEOUT)) {
                assertThatThrownBy(channel::close).isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining(event.toString()).hasMessageContaining(id.toString());
            }
        }
        channel.close();
        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void anEventOfATypeThatIsNewerThanThisLibraryIsLeftOut() throws Exception {
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, PortSpace.TCP)) {
            FakeRdmaCm.call("fake_event", id.handle().address(), CmEventType.values().length);
            FakeRdmaCm.event(id, CmEventType.ADDR_CHANGE);
            try (CmEvent event = channel.getEvent(Loopback.TIMEOUT)) {
                assertThat(event.type()).isEqualTo(CmEventType.ADDR_CHANGE);
            }
            assertThat(FakeRdmaCm.call("fake_unacknowledged")).isZero();
        }
    }
}
