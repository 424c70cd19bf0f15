// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Callable;

import io.rdmacm.core.AddressInfo;
import io.rdmacm.core.PortSpace;
import io.rdmacm.examples.support.Console;
import io.rdmacm.examples.support.Patience;
import io.rdmacm.examples.support.Usage;
import io.rdmacm.verbs.error.RdmaException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * cmtime(1): how long the steps of making and ending many connections take. This class has the options;
 * {@link CmTimeServer} and {@link CmTimeClient} are the two roles, {@link StepTimes} is the table.
 *
 * <p>Other than in C, a client with a connection that failed says so by its exit status. No data is sent.
 */
@Command(name = "cmtime", sortOptions = false, header = "How long each step of connecting takes.",
        description = "The client makes many connections at once, each step for all before the next, and ends them. The"
                + " server goes on without end.",
        footer = {"%nFor example, a server, and a client that makes a hundred connections:", "  rdmacm cmtime",
            "  rdmacm cmtime -s 192.168.99.1 -c 100"})
public final class CmTime implements Callable<Integer> {
    @Option(names = "-s", paramLabel = "ADDR", description = "Be the client of the server at this address.")
    private String server;

    @Option(names = "-b", paramLabel = "ADDR",
            description = "The address of this machine to listen at, or to come from.")
    private String bind;

    @Option(names = "-c", paramLabel = "COUNT", defaultValue = "100",
            description = "The client: how many connections (${DEFAULT-VALUE}).")
    private int connections;

    @Option(names = "-p", paramLabel = "PORT", defaultValue = "7471", description = "The port (${DEFAULT-VALUE}).")
    private String port;

    @Option(names = "-r", paramLabel = "COUNT", defaultValue = "2",
            description = "The client: how often to try again to resolve address or route (${DEFAULT-VALUE}).")
    private int retries;

    @Option(names = "-t", paramLabel = "MILLISECONDS", defaultValue = "2000",
            description = "The client: how long resolving may take (${DEFAULT-VALUE}).")
    private int timeout;

    @Mixin
    private Patience patience;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this.")
    private boolean help;

    @Spec
    private CommandSpec spec;

    /** Made by picocli. */
    public CmTime() {
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Usage.require(spec, connections >= 1, "Invalid number of connections " + connections);
        Usage.require(spec, retries >= 0, "Invalid number of retries " + retries);
        Usage.require(spec, timeout >= 1, "Invalid timeout " + timeout);
        Console console = new Console(spec.commandLine().getOut(), spec.commandLine().getErr(), false);
        if (server == null) {
            new CmTimeServer(this, console).run();
        } else {
            new CmTimeClient(this, console).run();
        }
        return 0;
    }

    AddressInfo addressToListen() throws RdmaException {
        return AddressFormat.NAME.toListen(bind, port, PortSpace.TCP);
    }

    AddressInfo addressToConnect() throws RdmaException {
        return AddressFormat.NAME.toConnect(server, port, PortSpace.TCP, bind);
    }

    int connections() {
        return connections;
    }

    int retries() {
        return retries;
    }

    Duration timeout() {
        return Duration.ofMillis(timeout);
    }

    Duration patience() {
        return patience.duration();
    }
}
