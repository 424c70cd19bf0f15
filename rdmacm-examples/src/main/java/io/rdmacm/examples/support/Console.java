// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.support;

import java.io.IOException;
import java.io.PrintWriter;

/** The output of a program. */
public final class Console {
    private final PrintWriter out;
    private final PrintWriter err;
    private final boolean debug;

    /**
     * Creates a console for the given streams.
     *
     * @param out receives the results of the program
     * @param err receives warnings and errors
     * @param debug whether to print the lines of {@link #debug}
     */
    public Console(PrintWriter out, PrintWriter err, boolean debug) {
        this.out = out;
        this.err = err;
        this.debug = debug;
    }

    /**
     * Prints a line of the program's results.
     *
     * @param line the line, without a line break
     */
    public void print(String line) {
        out.println(line);
    }

    /**
     * Prints a part of a line, at once.
     *
     * @param text the text
     */
    public void part(String text) {
        out.print(text);
        out.flush();
    }

    /**
     * Prints a warning or an error.
     *
     * @param line the line, without a line break
     */
    public void report(String line) {
        err.println(line);
    }

    /**
     * Prints a line that helps to follow each step, if the program runs with its debug option.
     *
     * @param format as for {@link String#format(String, Object...)}
     * @param arguments the arguments of the format
     */
    public void debug(String format, Object... arguments) {
        if (debug) {
            out.println(String.format(format, arguments));
        }
    }

    /**
     * Describes a failure in one line: by its message if it is an {@link IOException}, otherwise with the name of its
     * class.
     *
     * @param failure what was thrown
     * @return the line
     */
    public static String describe(Throwable failure) {
        boolean expected = failure instanceof IOException && failure.getMessage() != null;
        return oneLine(expected ? failure.getMessage() : failure.toString());
    }

    /**
     * Joins the lines of a text with commas.
     *
     * @param text any number of lines
     * @return one line
     */
    public static String oneLine(String text) {
        return text.strip().replaceAll("\\s*\\R\\s*", ", ");
    }
}
