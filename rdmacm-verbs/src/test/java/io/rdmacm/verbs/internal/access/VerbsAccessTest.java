// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.io.IOException;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.forked.UseVerbsAccess;
import io.rdmacm.verbs.testing.ForkedJvm;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;

/** The way in for the connection-manager layer is there before any object of verbs was used, and shut to programs. */
class VerbsAccessTest {
    @Test
    void isFoundOnTheClassPath() throws IOException, InterruptedException {
        assertIsFound(ForkedJvm.of(UseVerbsAccess.class));
    }

    @Test
    void isFoundOnTheModulePath() throws IOException, InterruptedException {
        assertIsFound(ForkedJvm.of(UseVerbsAccess.class).modules("io.rdmacm.verbs", Rdma.class, NativeObject.class,
                Logger.class).options("--add-exports=io.rdmacm.verbs/io.rdmacm.verbs.internal.access=ALL-UNNAMED"));
    }

    private static void assertIsFound(ForkedJvm jvm) throws IOException, InterruptedException {
        ForkedJvm.Result result = jvm.run();

        assertThat(result.output().lines()).describedAs(result.errors()).containsExactly("found twice: true");
    }

    @Test
    void aProgramCannotMakeANativeObject() {
        assertThatNullPointerException().isThrownBy(() -> new NativeObject(null, 1, 1) {
            @Override
            protected void destroy() {
                // never made
            }
        });
    }
}
