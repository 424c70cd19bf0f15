// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;

/** Records which virtual threads parked without leaving their carrier (the event jdk.VirtualThreadPinned). */
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

    /** Ends the recording, prints the events to standard error and returns their number. */
    public int count() throws IOException {
        Path file = Files.createTempFile("pinned", ".jfr");
        try {
            recording.stop();
            recording.dump(file);
            var events = RecordingFile.readAllEvents(file);
            events.forEach(System.err::println);
            return events.size();
        } finally {
            Files.delete(file);
        }
    }

    @Override
    public void close() {
        recording.close();
    }
}
