// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.support;

import java.time.Duration;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Spec.Target;

/** The option that bounds the waits of a program; those of C wait without end. */
public final class Patience {
    /** For what may take any time: a server that waits for its clients. */
    public static final Duration FOR_EVER = Duration.ofSeconds(Long.MAX_VALUE);

    private int seconds;

    @Spec(Target.MIXEE)
    private CommandSpec program;

    /** Made by picocli. */
    public Patience() {
    }

    @Option(names = "--patience", paramLabel = "SECONDS", defaultValue = "60",
            description = "How long a peer may keep silent (${DEFAULT-VALUE}).")
    private void setSeconds(int seconds) {
        Usage.require(program, seconds >= 1, "Invalid patience " + seconds);
        this.seconds = seconds;
    }

    /** How long a peer may keep silent. */
    public Duration duration() {
        return Duration.ofSeconds(seconds);
    }
}
