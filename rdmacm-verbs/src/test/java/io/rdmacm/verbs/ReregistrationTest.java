// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.error.ReregistrationException;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import io.rdmacm.verbs.work.AccessFlag;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a region is after it was changed, and after that failed in each of the ways of C. */
@WithFakeVerbs
class ReregistrationTest {
    private static final int INPUT = -1;
    private static final int DONT_FORK_NEW = -2;
    private static final int DO_FORK_OLD = -3;
    private static final int COMMAND = -4;
    private static final int COMMAND_AND_DO_FORK_NEW = -5;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment other = arena.allocate(8192);
    private FakeStack stack;
    private ProtectionDomain second;
    private MemoryRegion region;

    @BeforeEach
    void open() throws RdmaException {
        stack = new FakeStack();
        second = stack.context().allocateProtectionDomain();
        region = stack.region();
        FakeVerbs.reset();
    }

    @AfterEach
    void close() throws RdmaException {
        region.close();
        second.close();
        stack.close();
        arena.close();
    }

    private static Reregistration.Builder change() {
        return Reregistration.builder();
    }

    private void assertCalled(int flags, ProtectionDomain domain, long address, long length, int access) {
        assertThat(FakeVerbs.calls("ibv_rereg_mr")).singleElement().satisfies(call -> assertThat(call.arguments())
                .startsWith(region.handle().address(), (long) flags,
                        domain == null ? 0 : domain.handle().address(), address, length, (long) access));
    }

    @Test
    @Covers("ibv_rereg_mr")
    void otherAccess() throws RdmaException {
        int oldKey = region.localKey();

        region.reregister(change().access(AccessFlag.LOCAL_WRITE).build());

        assertCalled(Rdma.IBV_REREG_MR_CHANGE_ACCESS(), null, 0, 0, Rdma.IBV_ACCESS_LOCAL_WRITE());
        assertThat(region.access()).containsExactly(AccessFlag.LOCAL_WRITE);
        assertThat(region.localKey()).describedAs("the new one").isEqualTo(oldKey + 1);
        assertThat(region.length()).isEqualTo(4096);
        assertThat(region).hasToString("MemoryRegion[4096 bytes, lkey 0x" + Integer.toHexString(oldKey + 1)
                + ", rkey 0x" + Integer.toHexString(region.remoteKey()) + "]");
    }

    @Test
    @Covers("ibv_rereg_mr")
    void otherMemory() throws RdmaException {
        MemorySegment old = region.memory();

        region.reregister(change().memory(other).build());

        assertCalled(Rdma.IBV_REREG_MR_CHANGE_TRANSLATION(), null, other.address(), 8192, 0);
        assertThat(region.memory()).isSameAs(other);
        assertThat(region.length()).isEqualTo(8192);
        assertThat(region.remoteAddress()).isEqualTo(other.address());
        assertThat(old.scope().isAlive()).describedAs("until the close").isTrue();
        region.close();
        assertThat(old.scope().isAlive()).isFalse();
        assertThat(other.scope().isAlive()).describedAs("the caller's").isTrue();
    }

    @Test
    @Covers("ibv_rereg_mr")
    void anotherDomainIsThenTheParent() throws RdmaException {
        region.reregister(change().protectionDomain(second).build());

        assertCalled(Rdma.IBV_REREG_MR_CHANGE_PD(), second, 0, 0, 0);
        assertThat(region.protectionDomain()).isSameAs(second);
        assertThatIllegalStateException().isThrownBy(second::close).withMessageContaining(region.toString());
        stack.queuePair().close();
        stack.domain().close();
        region.close();
        second.close();
    }

    @Test
    @Covers("ibv_rereg_mr")
    void allAtOnce() throws RdmaException {
        region.reregister(change().memory(other).protectionDomain(second).access(AccessFlag.REMOTE_READ).build());

        assertCalled(Rdma.IBV_REREG_MR_FLAGS_SUPPORTED(), second, other.address(), 8192,
                Rdma.IBV_ACCESS_REMOTE_READ());
    }

    @ParameterizedTest
    @ValueSource(ints = {INPUT, DONT_FORK_NEW, DO_FORK_OLD, COMMAND, COMMAND_AND_DO_FORK_NEW})
    @Covers("ibv_rereg_mr")
    void whatTheRegionIsAfterAFailure(int code) throws RdmaException {
        MemorySegment old = region.memory();
        FakeVerbs.result(code);
        FakeVerbs.fail("ibv_rereg_mr", Rdma.ENOMEM());

        ReregistrationException e = catchThrowableOfType(ReregistrationException.class,
                () -> region.reregister(change().memory(other).protectionDomain(second).build()));

        assertThat(e).hasMessageStartingWith("ibv_rereg_mr (IBV_REREG_MR_ERR_").hasMessageContaining("ENOMEM");
        switch (code) {
            case INPUT, DONT_FORK_NEW -> {
                assertThat(e.outcome()).isEqualTo(ReregistrationException.Outcome.UNCHANGED);
                assertThat(region.memory()).isSameAs(old);
                assertThat(region.protectionDomain()).isSameAs(stack.domain());
                second.close();
            }
            case DO_FORK_OLD -> {
                assertThat(e.outcome()).isEqualTo(ReregistrationException.Outcome.CHANGED);
                assertThat(region.memory()).isSameAs(other);
                assertThat(region.protectionDomain()).isSameAs(second);
                stack.queuePair().close();
                stack.domain().close();
            }
            default -> {
                assertThat(e.outcome()).isEqualTo(ReregistrationException.Outcome.UNUSABLE);
                assertThatIllegalStateException().isThrownBy(region::localKey).withMessageContaining("only be closed");
                assertThatIllegalStateException().isThrownBy(region::memory);
                assertThatIllegalStateException().isThrownBy(() -> region.reregister(change().memory(other).build()));
                assertThatIllegalStateException()
                        .isThrownBy(() -> SendRequests.allocate(1, 1).get(0).data(region, 0, 8));
                assertThatIllegalStateException().isThrownBy(second::close).withMessageContaining("open children");
                assertThatIllegalStateException().isThrownBy(stack.domain()::close)
                        .withMessageContaining("MemoryRegion");
                region.close();
                second.close();
            }
        }
    }

    @Test
    @Covers("ibv_rereg_mr")
    void aDeviceWithoutTheCommandChangesNothing() throws RdmaException {
        FakeVerbs.result(COMMAND);
        FakeVerbs.fail("ibv_rereg_mr", Rdma.EOPNOTSUPP());

        assertThatExceptionOfType(RdmaUnsupportedException.class)
                .isThrownBy(() -> region.reregister(change().access().protectionDomain(second).build()))
                .withMessageContaining("the region is unchanged");

        assertThat(region.access()).isNotEmpty();
        second.close();
    }

    @Test
    void whatCannotBeDoneIsRefusedBeforeAnyNativeCall() throws RdmaException {
        assertThatIllegalArgumentException().isThrownBy(() -> region.reregister(change().build()))
                .withMessageContaining("nothing to change");
        assertThatIllegalArgumentException().isThrownBy(() -> change().memory(MemorySegment.ofArray(new byte[8])))
                .withMessageContaining("Java heap");
        assertThatIllegalArgumentException().isThrownBy(() -> change().access(AccessFlag.REMOTE_WRITE));
        Reregistration unwritable = change().memory(other.asReadOnly()).build();
        assertThatIllegalArgumentException().isThrownBy(() -> region.reregister(unwritable))
                .withMessageContaining("read-only");
        Reregistration moved = change().protectionDomain(second).build();
        second.close();
        assertThatIllegalStateException().isThrownBy(() -> region.reregister(moved))
                .withMessageContaining("ProtectionDomain is closed");
        assertThatIllegalStateException().isThrownBy(() -> change().protectionDomain(second));
        try (MemoryRegion imported = stack.domain().importRegion(1)) {
            assertThatIllegalStateException().isThrownBy(() -> imported.reregister(change().memory(other).build()))
                    .withMessageContaining("not memory of this process");
        }
        try (FakeStack foreign = new FakeStack()) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> region.reregister(change().protectionDomain(foreign.domain()).build()))
                    .withMessageContaining("another context");
        }
        assertThat(FakeVerbs.calls("ibv_rereg_mr")).isEmpty();
    }
}
