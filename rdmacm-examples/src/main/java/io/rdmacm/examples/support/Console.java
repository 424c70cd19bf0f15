// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.support;

import java.io.IOException;
import java.io.PrintWriter;

/** Where a program prints to. */
public final class Console {
    private final PrintWriter out;
    private final PrintWriter err;
    private final boolean debug;

    /**
     * Prints to the given streams.
     *
     * @param out for what the program is for
     * @param err for what happens
     * @param debug whether to print each step
     */
    public Console(PrintWriter out, PrintWriter err, boolean debug) {
        this.out = out;
        this.err = err;
        this.debug = debug;
    }

    /** A line of what the program is for. */
    public void print(String line) {
        out.println(line);
    }

    /** A line about something that happened. */
    public void report(String line) {
        err.println(line);
    }

    /** A line for those who want to follow each step. */
    public void debug(String format, Object... arguments) {
        if (debug) {
            out.println(String.format(format, arguments));
        }
    }

    /** What went wrong, in one line. Exceptions that nobody foresaw show what they are. */
    public static String describe(Throwable failure) {
        boolean foreseen = failure instanceof IOException && failure.getMessage() != null;
        return oneLine(foreseen ? failure.getMessage() : failure.toString());
    }

    /** A text of any number of lines in one. */
    public static String oneLine(String text) {
        return text.strip().replaceAll("\\s*\\R\\s*", ", ");
    }
}
