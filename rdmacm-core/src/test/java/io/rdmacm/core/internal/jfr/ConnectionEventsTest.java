// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.jfr;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

import io.rdmacm.verbs.internal.jfr.RegistrationEvents;
import io.rdmacm.verbs.testing.ForkedJvm;
import jdk.jfr.Recording;
import org.junit.jupiter.api.Test;

/** Events are created only while they are recorded, and only if there is a recorder. */
class ConnectionEventsTest {
    /** Records all events, in a JVM where nothing else is recorded, or one without the module jdk.jfr. */
    static final class WithoutRecorder {
        private WithoutRecorder() {
        }

        public static void main(String[] args) {
            ConnectionEvents.disconnect(null, null, false, "");
            ConnectionEvents.failure(null, null, Thread.State.NEW, 0, 0, 0);
            System.out.print(ConnectionEvents.sleepBegins() + " " + ConnectionEvents.handshakeBegins(true) + " "
                    + ConnectionEvents.handshakeBegins(false) + " " + RegistrationEvents.begin());
        }
    }

    @Test
    void nothingIsCreatedWhileNothingIsRecorded() {
        assertThat(ConnectionEvents.sleepBegins()).isNull();
        assertThat(ConnectionEvents.handshakeBegins(true)).isNull();
        assertThat(ConnectionEvents.handshakeBegins(false)).isNull();
        assertThat(ConnectionEvents.recordsDisconnects()).isFalse();
        assertThat(ConnectionEvents.recordsFailures()).isFalse();
        assertThat(RegistrationEvents.begin()).isNull();
    }

    @Test
    void onlyWhatIsEnabledIsCreated() {
        try (Recording recording = new Recording()) {
            recording.enable("io.rdmacm.Sleep");
            recording.disable("io.rdmacm.Connect");
            recording.start();
            assertThat(ConnectionEvents.sleepBegins()).isNotNull();
            assertThat(ConnectionEvents.handshakeBegins(true)).isNull();
        }
    }

    @Test
    void theRecorderIsNotInitialisedWhileNothingUsesIt() throws Exception {
        ForkedJvm.Result result = ForkedJvm.of(WithoutRecorder.class).options("-Xlog:class+load:stderr").run();

        assertThat(result.output()).isEqualTo("null null null null");
        assertThat(result.errors()).contains(WithoutRecorder.class.getName() + " ")
                .doesNotContain(ConnectionEvent.class.getName() + " ").doesNotContain("jdk.jfr.internal.");
    }

    @Test
    void theRecorderIsOptional() throws Exception {
        Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--limit-modules", "java.base", "-cp", System.getProperty("java.class.path"),
                WithoutRecorder.class.getName()).redirectErrorStream(true).start();
        assertThat(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                .isEqualTo("null null null null");
        assertThat(process.waitFor()).isZero();
    }
}
