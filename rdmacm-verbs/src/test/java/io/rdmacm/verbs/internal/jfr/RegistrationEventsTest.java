// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.jfr;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;

import io.rdmacm.verbs.work.AccessFlag;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What Java Flight Recorder is told of a registration, and that nothing is made for it when it does not ask. */
class RegistrationEventsTest {
    private static final String NAME = "io.rdmacm.MemoryRegistration";
    private static final Duration CALL = Duration.ofMillis(2);

    @Test
    void aRegistrationIsRecordedFromItsBeginning(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("recording.jfr");
        try (Recording recording = new Recording()) {
            recording.enable(NAME).withoutThreshold();
            recording.start();
            Object event = RegistrationEvents.begin();
            long start = System.nanoTime();
            while (System.nanoTime() - start < CALL.toNanos()) {
                Thread.onSpinWait();
            }
            RegistrationEvents.end(event, 4096, 17, EnumSet.of(AccessFlag.REMOTE_READ, AccessFlag.LOCAL_WRITE));
            recording.stop();
            recording.dump(file);
        }
        assertThat(RecordingFile.readAllEvents(file)).singleElement().satisfies(event -> {
            assertThat(event.getEventType().getName()).isEqualTo(NAME);
            assertThat(event.getLong("address")).isEqualTo(4096);
            assertThat(event.getLong("length")).isEqualTo(17);
            assertThat(event.getString("access")).isEqualTo("LOCAL_WRITE REMOTE_READ");
            assertThat(event.getDuration()).isGreaterThanOrEqualTo(CALL);
        });
    }

    @Test
    void nothingIsMadeForARecorderThatDoesNotAsk() {
        assertThat(RegistrationEvents.begin()).isNull();
        RegistrationEvents.end(null, 4096, 17, EnumSet.noneOf(AccessFlag.class));
    }
}
