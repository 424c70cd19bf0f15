// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples;

import java.io.IOException;
import java.io.PrintWriter;

/** Where a program prints to. */
final class Console {
    private final PrintWriter out;
    private final PrintWriter err;
    private final boolean debug;

    Console(PrintWriter out, PrintWriter err, boolean debug) {
        this.out = out;
        this.err = err;
        this.debug = debug;
    }

    /** A line of what the program is for. */
    void print(String line) {
        out.println(line);
    }

    /** A line about something that happened. */
    void report(String line) {
        err.println(line);
    }

    /** A line for those who want to follow each step. */
    void debug(String format, Object... arguments) {
        if (debug) {
            out.println(String.format(format, arguments));
        }
    }

    /** What went wrong, in one line. Exceptions that nobody foresaw show what they are. */
    static String describe(Throwable failure) {
        boolean foreseen = failure instanceof IOException && failure.getMessage() != null;
        return oneLine(foreseen ? failure.getMessage() : failure.toString());
    }

    static String oneLine(String text) {
        return text.strip().replaceAll("\\s*\\R\\s*", ", ");
    }
}
