// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples;

import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.channels.ClosedByInterruptException;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;

import io.rdmacm.examples.support.ExampleProgram;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/**
 * Runs one of the programs by its name. The exit status is 0 on success, 130 if the program was interrupted, and
 * otherwise 1, with the reason in one line on standard error.
 */
@Command(name = "rdmacm", synopsisSubcommandLabel = "NAME",
        header = "The programs of librdmacm and libibverbs, in Java.",
        footer = "%nrdmacm NAME --help lists the options of a program.", commandListHeading = "%nPrograms:%n")
public final class Main implements Callable<Integer> {
    private static final int FAILED = 1;
    private static final int INTERRUPTED = 130;

    @Option(names = "--debug", description = "Print the stack trace of a failure.")
    private boolean stackTraces;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this.")
    private boolean help;

    @Spec
    private CommandSpec spec;

    Main() {
    }

    /**
     * Runs the program named by the first argument, and ends the JVM with its exit status.
     *
     * @param args the name of the program, and its arguments
     */
    public static void main(String[] args) {
        System.exit(run(new PrintWriter(System.out, true), new PrintWriter(System.err, true), args));
    }

    /**
     * Runs a program.
     *
     * @param out replaces standard output
     * @param err replaces standard error
     * @param args the name of the program, and its arguments
     * @return its exit status
     */
    public static int run(PrintWriter out, PrintWriter err, String... args) {
        Main main = new Main();
        CommandLine line = new CommandLine(main);
        programs(args).forEach(line::addSubcommand);
        return line.registerConverter(InetAddress.class, Main::host).setOut(out).setErr(err)
                .setOverwrittenOptionsAllowed(true).setCaseInsensitiveEnumValuesAllowed(true)
                .setExecutionExceptionHandler((failure, program, arguments) -> main.failed(failure, program))
                .setParameterExceptionHandler((failure, arguments) -> wrongArguments(failure))
                .execute(args);
    }

    /** Returns the program that is named, or all if none is: they have to be listed. */
    private static List<Class<?>> programs(String... args) {
        return Arrays.stream(args).filter(arg -> !arg.startsWith("-")).findFirst().flatMap(Programs::named)
                .<List<Class<?>>>map(List::of).orElseGet(Programs::all);
    }

    /** Converts host names, IPv4 and IPv6 addresses on the command line. */
    private static InetAddress host(String name) {
        try {
            return InetAddress.getByName(name);
        } catch (UnknownHostException e) {
            throw new TypeConversionException("there is no host or IP address '" + name + "'");
        }
    }

    /** Prints the usage, if no program was named. */
    @Override
    public Integer call() {
        spec.commandLine().usage(spec.commandLine().getOut());
        return 0;
    }

    private int failed(Exception failure, CommandLine program) {
        if (failure instanceof InterruptedException || failure instanceof ClosedByInterruptException) {
            return INTERRUPTED;
        }
        program.getErr().println(program.getCommandName() + ": " + ExampleProgram.describe(failure));
        if (stackTraces) {
            failure.printStackTrace(program.getErr());
        }
        return FAILED;
    }

    private static int wrongArguments(ParameterException failure) {
        CommandSpec program = failure.getCommandLine().getCommandSpec();
        failure.getCommandLine().getErr().println(program.name() + ": " + ExampleProgram.oneLine(failure.getMessage())
                + " (see " + program.qualifiedName() + " --help)");
        return FAILED;
    }
}
