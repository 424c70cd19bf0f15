// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.support;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** Checks of options that belong together. */
public final class Usage {
    private static final int MOST_PORT = 65_535;

    private Usage() {
    }

    /** Ends the program with a line on wrong arguments, unless a condition is met. */
    public static void require(CommandSpec program, boolean met, String message) {
        if (!met) {
            throw new ParameterException(program.commandLine(), message);
        }
    }

    /** Ends the program with a line on wrong arguments, unless it is the number of a port. */
    public static void requirePort(CommandSpec program, int port) {
        require(program, port >= 0 && port <= MOST_PORT, "Invalid port " + port);
    }

    /** Ends the program with a line on wrong arguments, unless a number is not given, or in the range from 0 on. */
    public static void requireRange(CommandSpec program, String what, Integer value, int most) {
        require(program, value == null || value >= 0 && value <= most,
                "Invalid " + what + " " + value + " (valid range is 0 to " + most + ")");
    }
}
