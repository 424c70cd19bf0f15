// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/**
 * Records which virtual threads parked without leaving their carrier (the event jdk.VirtualThreadPinned). Threads that
 * load a class do not count: the class loaders of the JDK keep carriers.
 */
public final class PinnedThreads implements AutoCloseable {
    private static final String EVENT = "jdk.VirtualThreadPinned";

    private final Recording recording = new Recording();

    private PinnedThreads() {
        recording.enable(EVENT).withoutThreshold().withStackTrace();
        recording.start();
    }

    /** Begins to record. */
    public static PinnedThreads record() {
        return new PinnedThreads();
    }

    /** Ends the recording, prints the events that count to standard error and returns their number. */
    public int count() throws IOException {
        Path file = Files.createTempFile("pinned", ".jfr");
        try {
            recording.stop();
            recording.dump(file);
            List<RecordedEvent> events = RecordingFile.readAllEvents(file).stream()
                    .filter(event -> !isLoading(event)).toList();
            events.forEach(System.err::println);
            return events.size();
        } finally {
            Files.delete(file);
        }
    }

    private static boolean isLoading(RecordedEvent event) {
        return event.getStackTrace() != null && event.getStackTrace().getFrames().stream()
                .anyMatch(frame -> frame.getMethod().getType().getName().startsWith("jdk.internal.loader."));
    }

    @Override
    public void close() {
        recording.close();
    }
}
