// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.address;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Optional;

import io.rdmacm.bindings.ibv_ah_attr;
import io.rdmacm.verbs.internal.codec.AddressStructs;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** GIDs and the way to a port, compared with what C makes of the same values. */
@WithFakeVerbs
class AddressAttributesTest {
    private static final GlobalRoute ROUTE = new GlobalRoute(new Gid(0xfe80000000000000L, 0x0123456789abcdefL),
            0xfedcb, 0xfe, 0xfd, 0xfc);
    private static final AddressAttributes ALL = new AddressAttributes(Optional.of(ROUTE), 0xfffe, 0xf, 0x7f,
            Rate.of(0xe1), 2);

    @ParameterizedTest
    @CsvSource({"0, 0, ::", "0, 1, ::1", "fe80000000000000, 2, fe80::2",
        "fe80000000000000, 020000fffe000001, fe80::200:ff:fe00:1",
        "20010db800000000, 0001000000000000, 2001:db8:0:0:1::",
        "2001000000000001, 0000000000000001, 2001:0:0:1::1", "0001000200030004, 0005000600070008, 1:2:3:4:5:6:7:8",
        "0001000200030004, 0005000000070008, 1:2:3:4:5:0:7:8", "0, 0000ffff0a000001, ::ffff:10.0.0.1"})
    void aGidIsWrittenAsAnIpv6Address(String prefix, String id, String text) throws UnknownHostException {
        Gid gid = new Gid(Long.parseUnsignedLong(prefix, 16), Long.parseUnsignedLong(id, 16));

        assertThat(gid).hasToString(text);
        assertThat(Gid.ofAddress(InetAddress.getByName(text))).isEqualTo(gid);
        assertThat(Gid.of(gid.toBytes())).isEqualTo(gid);
        assertThat(Gid.ofAddress(gid.toAddress())).isEqualTo(gid);
        assertThat(gid.isZero()).isEqualTo("::".equals(text));
        assertThat(gid.isIpv4()).isEqualTo(text.contains("."));
    }

    @Test
    void aGidHas16Bytes() {
        assertThatIllegalArgumentException().isThrownBy(() -> Gid.of(new byte[15]))
                .withMessage("a GID has 16 bytes, not 15");
    }

    private static MemorySegment oracle(Arena arena, AddressAttributes values) {
        MemorySegment wanted = ibv_ah_attr.allocate(arena);
        GlobalRoute route = values.globalRoute().orElse(new GlobalRoute(new Gid(0, 0), 0, 0, 0, 0));
        MemorySegment numbers = arena.allocateFrom(ValueLayout.JAVA_INT, values.globalRoute().isPresent() ? 1 : 0,
                route.flowLabel(), route.sourceGidIndex(), route.hopLimit(), route.trafficClass(),
                values.destinationLid(), values.serviceLevel(), values.sourcePathBits(), values.staticRate().value(),
                values.port());
        MemorySegment gid = arena.allocateFrom(ValueLayout.JAVA_BYTE, route.destination().toBytes());
        FakeVerbs.call("oracle_address", wanted.address(), gid.address(), numbers.address());
        return wanted;
    }

    @Test
    void theStructHasTheBytesThatCGivesIt() {
        try (Arena arena = Arena.ofConfined()) {
            AddressAttributes local = AddressAttributes.builder().port(1).destinationLid(7).serviceLevel(3)
                    .sourcePathBits(1).staticRate(Rate.RATE_2_5_GBPS).build();
            for (AddressAttributes values : List.of(ALL, local)) {
                MemorySegment written = ibv_ah_attr.allocate(arena);
                AddressStructs.write(values, written.address());

                MemorySegment wanted = oracle(arena, values);
                assertThat(written.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(wanted.toArray(ValueLayout.JAVA_BYTE));
                assertThat(AddressStructs.read(wanted.address())).isEqualTo(values);
            }
        }
    }

    @Test
    void theRouteOnRoceNeedsAGidAndItsIndex() {
        assertThat(AddressAttributes.ofRoute(1, new Gid(0, 5), 3))
                .isEqualTo(new AddressAttributes(Optional.of(new GlobalRoute(new Gid(0, 5), 0, 3, 64, 0)), 0, 0, 0,
                        Rate.RATE_MAX, 1));
    }

    @Test
    void numbersThatDoNotFitAreRefused() {
        AddressAttributes.Builder builder = AddressAttributes.builder();
        assertThatIllegalArgumentException().isThrownBy(() -> builder.destinationLid(0x10000).build())
                .withMessage("the destination LID must be from 0 to 65535, not 65536");
        builder.destinationLid(0);
        assertThatIllegalArgumentException().isThrownBy(() -> builder.serviceLevel(-1).build())
                .withMessage("the service level must be from 0 to 255, not -1");
        builder.serviceLevel(0);
        assertThatIllegalArgumentException().isThrownBy(() -> builder.sourcePathBits(256).build());
        builder.sourcePathBits(0);
        assertThatIllegalArgumentException().isThrownBy(() -> builder.staticRate(Rate.of(256)).build());
        builder.staticRate(Rate.of(0));
        assertThatIllegalArgumentException().isThrownBy(() -> builder.port(256).build());
        Gid gid = new Gid(0, 1);
        assertThatIllegalArgumentException().isThrownBy(() -> new GlobalRoute(gid, 1 << 20, 0, 0, 0))
                .withMessage("the flow label must be from 0 to 1048575, not 1048576");
        assertThatIllegalArgumentException().isThrownBy(() -> new GlobalRoute(gid, 0, 256, 0, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> new GlobalRoute(gid, 0, 0, 256, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> new GlobalRoute(gid, 0, 0, 0, 256));
    }
}
