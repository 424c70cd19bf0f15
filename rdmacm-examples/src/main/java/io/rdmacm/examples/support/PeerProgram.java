// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.support;

import java.time.Duration;

import picocli.CommandLine.Option;

/** A program with a peer: {@code --timeout} limits how long it waits. The C programs wait forever. */
public abstract class PeerProgram extends ExampleProgram {
    private Duration timeout;

    /** Created by picocli. */
    protected PeerProgram() {
    }

    @Option(names = "--timeout", paramLabel = "SECONDS", defaultValue = "60",
            description = "How long to wait for the peer (${DEFAULT-VALUE}).")
    private void setSeconds(int seconds) {
        require(seconds >= 1 && seconds <= Integer.MAX_VALUE / 1000, "Invalid timeout " + seconds);
        timeout = Duration.ofSeconds(seconds);
    }

    /** {@return how long to wait for the peer} */
    public final Duration timeout() {
        return timeout;
    }
}
