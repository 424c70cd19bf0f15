// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples;

import java.io.PrintWriter;
import java.util.concurrent.Callable;

import io.rdmacm.examples.cm.CmTime;
import io.rdmacm.examples.cm.Mckey;
import io.rdmacm.examples.cm.RdmaClient;
import io.rdmacm.examples.cm.RdmaServer;
import io.rdmacm.examples.cm.RdmaXclient;
import io.rdmacm.examples.cm.RdmaXserver;
import io.rdmacm.examples.cm.Ucmatose;
import io.rdmacm.examples.cm.Udaddy;
import io.rdmacm.examples.echo.Echo;
import io.rdmacm.examples.eventserver.EventClient;
import io.rdmacm.examples.eventserver.EventServer;
import io.rdmacm.examples.grpc.GrpcClient;
import io.rdmacm.examples.grpc.GrpcServer;
import io.rdmacm.examples.kvstore.KvLoad;
import io.rdmacm.examples.kvstore.KvServer;
import io.rdmacm.examples.manual.ApmExample;
import io.rdmacm.examples.manual.DcExample;
import io.rdmacm.examples.manual.MulticastExample;
import io.rdmacm.examples.manual.RcExample;
import io.rdmacm.examples.manual.SrqExample;
import io.rdmacm.examples.manual.UmrExample;
import io.rdmacm.examples.netty.HttpServer;
import io.rdmacm.examples.rping.Rping;
import io.rdmacm.examples.stream.Rcopy;
import io.rdmacm.examples.stream.Riostream;
import io.rdmacm.examples.stream.Rstream;
import io.rdmacm.examples.support.Console;
import io.rdmacm.examples.valkey.ValkeyCli;
import io.rdmacm.examples.valkey.ValkeyLoad;
import io.rdmacm.examples.verbs.EfaPingpong;
import io.rdmacm.examples.verbs.IbvAsyncwatch;
import io.rdmacm.examples.verbs.IbvDevices;
import io.rdmacm.examples.verbs.IbvDevinfo;
import io.rdmacm.examples.verbs.IbvRcPingpong;
import io.rdmacm.examples.verbs.IbvSrqPingpong;
import io.rdmacm.examples.verbs.IbvUcPingpong;
import io.rdmacm.examples.verbs.IbvUdPingpong;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Runs one of the programs by its name. The exit status is 0 on success, 130 if the program was interrupted, and
 * otherwise 1, with the reason in one line on standard error.
 */
@Command(name = "rdmacm", synopsisSubcommandLabel = "NAME",
        subcommands = {
            Rping.class, Ucmatose.class, Udaddy.class, Mckey.class, RdmaClient.class, RdmaServer.class,
            RdmaXclient.class, RdmaXserver.class, CmTime.class, Rstream.class, Riostream.class, Rcopy.class, Echo.class,
            IbvDevices.class, IbvDevinfo.class, IbvAsyncwatch.class, IbvRcPingpong.class, IbvUcPingpong.class,
            IbvUdPingpong.class, IbvSrqPingpong.class, EfaPingpong.class,
            RcExample.class, MulticastExample.class, SrqExample.class, ApmExample.class,
            DcExample.class, UmrExample.class,
            EventServer.class, EventClient.class, KvServer.class, KvLoad.class, HttpServer.class,
            GrpcServer.class, GrpcClient.class, ValkeyCli.class, ValkeyLoad.class},
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
        return new CommandLine(main).setOut(out).setErr(err).setOverwrittenOptionsAllowed(true)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setExecutionExceptionHandler((failure, program, arguments) -> main.failed(failure, program))
                .setParameterExceptionHandler((failure, arguments) -> wrongArguments(failure))
                .execute(args);
    }

    /** Prints the usage, if no program was named. */
    @Override
    public Integer call() {
        spec.commandLine().usage(spec.commandLine().getOut());
        return 0;
    }

    private int failed(Exception failure, CommandLine program) {
        if (failure instanceof InterruptedException) {
            return INTERRUPTED;
        }
        program.getErr().println(program.getCommandName() + ": " + Console.describe(failure));
        if (stackTraces) {
            failure.printStackTrace(program.getErr());
        }
        return FAILED;
    }

    private static int wrongArguments(ParameterException failure) {
        CommandSpec program = failure.getCommandLine().getCommandSpec();
        failure.getCommandLine().getErr().println(program.name() + ": " + Console.oneLine(failure.getMessage())
                + " (see " + program.qualifiedName() + " --help)");
        return FAILED;
    }
}
