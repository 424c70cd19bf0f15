// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import org.junit.jupiter.api.Test;

/** Fork support, over the stand-in for libibverbs. */
@WithFakeVerbs
class ForkSupportTest {
    @Test
    @Covers({"ibv_fork_init", "ibv_is_fork_initialized"})
    void theStatusAndTheErrorsOfInitializing() throws RdmaException {
        ForkSupport.initialize();
        for (ForkStatus status : ForkStatus.values()) {
            FakeVerbs.result(status.value());
            assertThat(ForkSupport.status()).isEqualTo(status);
        }
        FakeVerbs.result(ForkStatus.UNNEEDED.value());
        FakeVerbs.fail("ibv_fork_init", Rdma.EINVAL());
        ForkSupport.initialize();
        FakeVerbs.fail("ibv_fork_init", Rdma.ENOSYS());
        assertThatExceptionOfType(RdmaUnsupportedException.class).isThrownBy(ForkSupport::initialize);
        FakeVerbs.result(ForkStatus.DISABLED.value());
        FakeVerbs.fail("ibv_fork_init", Rdma.EINVAL());
        assertThatThrownBy(ForkSupport::initialize).hasMessageStartingWith("ibv_fork_init: EINVAL");
    }
}
