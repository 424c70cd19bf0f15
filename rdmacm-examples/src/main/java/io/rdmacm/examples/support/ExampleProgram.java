// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.support;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Callable;

import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** What all programs have: the option {@code --help}, their output, and the checks of their options. */
@Command(sortOptions = false)
public abstract class ExampleProgram implements Callable<Integer> {
    /** No limit, for a server that waits for its clients. */
    public static final Duration FOREVER = Duration.ofSeconds(Long.MAX_VALUE);

    private static final int MAX_PORT = 65_535;

    @Option(names = {"-h", "--help"}, usageHelp = true, order = Integer.MAX_VALUE, description = "Show this.")
    private boolean help;

    @Spec
    private CommandSpec spec;

    /** Created by picocli. */
    protected ExampleProgram() {
    }

    /** Converts decimal, hexadecimal and octal numbers on the command line: 17, 0x11, 021. */
    protected static final class NumberConverter implements ITypeConverter<Integer> {
        /** Created by picocli. */
        NumberConverter() {
        }

        @Override
        public Integer convert(String text) {
            try {
                return Integer.decode(text);
            } catch (NumberFormatException e) {
                throw new TypeConversionException("'" + text + "' is not a number");
            }
        }
    }

    /**
     * Checks the options, and does what the program is for.
     *
     * @throws IOException if it fails; the message is printed
     * @throws InterruptedException if it was interrupted
     */
    protected abstract void run() throws IOException, InterruptedException;

    @Override
    public final Integer call() throws IOException, InterruptedException {
        run();
        return 0;
    }

    /** {@return the name of the program} */
    public final String name() {
        return spec.name();
    }

    /**
     * Prints a line of the program's results.
     *
     * @param line the line, without a line break
     */
    public final void print(String line) {
        spec.commandLine().getOut().println(line);
    }

    /**
     * Prints a part of a line, at once.
     *
     * @param text the text
     */
    public final void part(String text) {
        spec.commandLine().getOut().print(text);
        spec.commandLine().getOut().flush();
    }

    /**
     * Prints a line on standard error.
     *
     * @param line the line, without a line break
     */
    public final void report(String line) {
        spec.commandLine().getErr().println(line);
    }

    /**
     * Prints a failure that does not end the program on standard error.
     *
     * @param failure what was thrown
     */
    public final void report(Throwable failure) {
        report(name() + ": " + describe(failure));
    }

    /**
     * Ends the program with a usage error, in one line, unless a condition holds.
     *
     * @param met whether the condition holds
     * @param message what is wrong if it does not
     */
    protected final void require(boolean met, String message) {
        if (!met) {
            throw new ParameterException(spec.commandLine(), message);
        }
    }

    /**
     * Checks the number of a port.
     *
     * @param port must be 0 to 65535
     * @param client whether the program is a client, which needs its server's port
     */
    protected final void requirePort(int port, boolean client) {
        require(port >= 0 && port <= MAX_PORT, "Invalid port " + port);
        require(!client || port != 0, "a client needs the server's port: -p PORT");
    }

    /**
     * Checks the range of an optional number.
     *
     * @param what the name of the value for the message
     * @param value must be 0 to {@code max}, or null if the option was not given
     * @param max the largest valid value
     */
    protected final void requireRange(String what, Integer value, int max) {
        require(value == null || value >= 0 && value <= max,
                "Invalid " + what + " " + value + " (valid range is 0 to " + max + ")");
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
