// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.UnaryOperator;

import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.work.WorkCompletion;

/** Traffic through memory of any kind: what was sent must be what is there. */
public final class MemoryTraffic {
    public static final int LENGTH = 1024;
    /** Room for a message and for the header of a datagram. */
    public static final int ROOM = TrafficEnd.HEADER + LENGTH;
    private static final int ROUNDS = 20;
    private static final int ATOMIC_ROUNDS = 10;

    private MemoryTraffic() {
    }

    /**
     * A piece of registered memory.
     *
     * @param region the memory as the device accesses it
     * @param memory the memory as the processor accesses it
     */
    public record Place(MemoryRegion region, MemorySegment memory) {
        public static Place of(MemoryRegion region) {
            return new Place(region, region.memory());
        }

        private byte[] bytes(long offset) {
            return memory.asSlice(offset, LENGTH).toArray(ValueLayout.JAVA_BYTE);
        }
    }

    /** Performs a request and waits for its success. */
    @FunctionalInterface
    public interface Requester {
        void perform(UnaryOperator<SendRequest> change) throws Exception;
    }

    /** An operation on the memory of a peer. */
    @FunctionalInterface
    public interface Remote {
        void run(Requester requester, Place local, Place remote) throws Exception;
    }

    /** Sends messages and checks what arrives. */
    public static void messages(Requester from, Place source, TrafficEnd to, Place target) throws Exception {
        for (byte i = 1; i <= ROUNDS; i++) {
            source.memory.asSlice(0, LENGTH).fill(i);
            to.post(to.receive.id(i).data(target.region, 0, to.header() + LENGTH));
            from.perform(request -> request.send().data(source.region, 0, LENGTH));
            WorkCompletion received = to.success();
            assertThat(received.workRequestId()).isEqualTo(i);
            assertThat(received.byteLength()).isEqualTo(to.header() + LENGTH);
            assertThat(target.bytes(to.header())).containsOnly(i);
        }
    }

    /** Sends messages in both directions. */
    public static void pingPong(TrafficEnd one, Place place, TrafficEnd other, Place otherPlace) throws Exception {
        messages(one.requester(), place, other, otherPlace);
        messages(other.requester(), otherPlace, one, place);
    }

    /** Writes to the remote memory and checks what arrives. */
    public static void writes(Requester requester, Place local, Place remote) throws Exception {
        for (byte i = 1; i <= ROUNDS; i++) {
            local.memory.asSlice(0, LENGTH).fill(i);
            requester.perform(request -> request.rdmaWrite(remote.region.remoteAddress(), remote.region.remoteKey())
                    .data(local.region, 0, LENGTH));
            assertThat(remote.bytes(0)).containsOnly(i);
        }
    }

    /** Reads the remote memory and checks what arrives. */
    public static void reads(Requester requester, Place local, Place remote) throws Exception {
        for (byte i = 1; i <= ROUNDS; i++) {
            remote.memory.asSlice(0, LENGTH).fill(i);
            requester.perform(request -> request.rdmaRead(remote.region.remoteAddress(), remote.region.remoteKey())
                    .data(local.region, 0, LENGTH));
            assertThat(local.bytes(0)).containsOnly(i);
        }
    }

    /** Compares with the value in the remote memory and with another one, and checks whether it is swapped. */
    public static void compareAndSwaps(Requester requester, Place local, Place remote) throws Exception {
        for (int i = 0; i < ATOMIC_ROUNDS; i++) {
            for (long expected = 1; expected <= 2; expected++) {
                long compare = expected;
                remote.memory.set(ValueLayout.JAVA_LONG, 0, 1);
                requester.perform(request -> request.compareAndSwap(remote.region.remoteAddress(),
                        remote.region.remoteKey(), compare, 0).data(local.region, 0, 8));
                assertThat(local.memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(1);
                assertThat(remote.memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(expected == 1 ? 0 : 1);
            }
        }
    }

    /** Adds to a number in the remote memory and checks what is fetched. */
    public static void fetchAndAdds(Requester requester, Place local, Place remote) throws Exception {
        remote.memory.set(ValueLayout.JAVA_LONG, 0, 1);
        for (int i = 0; i < ATOMIC_ROUNDS; i++) {
            requester.perform(request -> request.fetchAndAdd(remote.region.remoteAddress(),
                    remote.region.remoteKey(), 2).data(local.region, 0, 8));
            assertThat(local.memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(1 + 2L * i);
        }
        assertThat(remote.memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(1 + 2L * ATOMIC_ROUNDS);
    }
}
