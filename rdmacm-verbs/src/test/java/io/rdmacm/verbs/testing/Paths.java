// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import io.rdmacm.bindings.ibv_ah_attr;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.address.Gid;
import io.rdmacm.verbs.address.GlobalRoute;
import io.rdmacm.verbs.address.Rate;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;

/** Ways to a peer for properties, and what a C program makes of them. */
public final class Paths {
    private Paths() {
    }

    /** Any, with a global route and without. */
    public static Arbitrary<AddressAttributes> any() {
        Arbitrary<Integer> bytes = Arbitraries.integers().between(0, 0xff);
        Arbitrary<Gid> gids = Combinators.combine(Arbitraries.longs(), Arbitraries.longs()).as(Gid::new);
        Arbitrary<GlobalRoute> routes = Combinators.combine(gids, Arbitraries.integers().between(0, 0xfffff), bytes,
                bytes, bytes).as(GlobalRoute::new);
        return Combinators.combine(routes.optional(), Arbitraries.integers().between(0, 0xffff), bytes, bytes,
                bytes.map(Rate::of), bytes).as(AddressAttributes::new);
    }

    /** A {@code struct ibv_ah_attr} that C has written. */
    public static MemorySegment oracle(AddressAttributes values, Arena arena) {
        MemorySegment wanted = ibv_ah_attr.allocate(arena);
        GlobalRoute route = values.globalRoute().orElse(new GlobalRoute(new Gid(0, 0), 0, 0, 0, 0));
        MemorySegment numbers = arena.allocateFrom(ValueLayout.JAVA_INT, values.globalRoute().isPresent() ? 1 : 0,
                route.flowLabel(), route.sourceGidIndex(), route.hopLimit(), route.trafficClass(),
                values.destinationLid(), values.serviceLevel(), values.sourcePathBits(), values.staticRate().value(),
                values.port());
        FakeVerbs.call("oracle_address", wanted.address(),
                arena.allocateFrom(ValueLayout.JAVA_BYTE, route.destination().toBytes()).address(),
                numbers.address());
        return wanted;
    }
}
