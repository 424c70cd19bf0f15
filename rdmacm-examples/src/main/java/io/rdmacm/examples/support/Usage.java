// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.support;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** Checks of option values; a failed check ends the program with a one-line usage error. */
public final class Usage {
    private static final int MAX_PORT = 65_535;

    private Usage() {
    }

    /**
     * Checks a condition.
     *
     * @param program whose options are checked
     * @param met whether the condition holds
     * @param message what is wrong if it does not
     */
    public static void require(CommandSpec program, boolean met, String message) {
        if (!met) {
            throw new ParameterException(program.commandLine(), message);
        }
    }

    /**
     * Checks a port number.
     *
     * @param program whose options are checked
     * @param port must be 0 to 65535
     */
    public static void requirePort(CommandSpec program, int port) {
        require(program, port >= 0 && port <= MAX_PORT, "Invalid port " + port);
    }

    /**
     * Checks the range of an optional number.
     *
     * @param program whose options are checked
     * @param what the name of the value for the message
     * @param value must be 0 to {@code max}, or null if the option was not given
     * @param max the largest valid value
     */
    public static void requireRange(CommandSpec program, String what, Integer value, int max) {
        require(program, value == null || value >= 0 && value <= max,
                "Invalid " + what + " " + value + " (valid range is 0 to " + max + ")");
    }
}
