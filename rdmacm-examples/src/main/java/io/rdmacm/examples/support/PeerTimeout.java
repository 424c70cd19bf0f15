// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.support;

import java.time.Duration;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Spec.Target;

/** The option {@code --timeout}, which limits how long a program waits for its peer. The C programs wait forever. */
public final class PeerTimeout {
    /** No limit, for a server that waits for its clients. */
    public static final Duration FOREVER = Duration.ofSeconds(Long.MAX_VALUE);

    private int seconds;

    @Spec(Target.MIXEE)
    private CommandSpec program;

    /** Created by picocli. */
    public PeerTimeout() {
    }

    @Option(names = "--timeout", paramLabel = "SECONDS", defaultValue = "60",
            description = "How long to wait for the peer (${DEFAULT-VALUE}).")
    private void setSeconds(int seconds) {
        Usage.require(program, seconds >= 1, "Invalid timeout " + seconds);
        this.seconds = seconds;
    }

    /** {@return how long to wait for the peer} */
    public Duration duration() {
        return Duration.ofSeconds(seconds);
    }
}
