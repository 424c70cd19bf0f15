// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.valkey;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Callable;

import io.rdmacm.core.connection.ConnectionManager;
import io.rdmacm.core.connection.WaitPolicy;
import io.rdmacm.examples.support.Console;
import io.rdmacm.examples.support.HostConverter;
import io.rdmacm.examples.support.Usage;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command {@code valkey_cli}: sends commands to a Valkey server, and prints the answers. */
@Command(name = "valkey_cli", sortOptions = false, header = "Sends commands to a Valkey server, over RDMA or TCP.",
        description = "The server is valkey-server, built with BUILD_RDMA=yes. Without a command, commands are read"
                + " from standard input, one a line, in words without quotes. The exit status is 1 if the server"
                + " reports an error.",
        footer = {"%nFor example, a server, and a client that puts a value and gets it:",
            "  valkey-server --save '' --protected-mode no --rdma-bind 192.168.99.1 --rdma-port 6379",
            "  rdmacm valkey_cli -a 192.168.99.1 SET greeting hello",
            "  rdmacm valkey_cli -a 192.168.99.1 GET greeting"})
public final class ValkeyCli implements Callable<Integer> {
    @Option(names = "-a", paramLabel = "ADDR", required = true, converter = HostConverter.class,
            description = "The server's address or name.")
    private InetAddress address;

    @Option(names = "-p", paramLabel = "PORT", defaultValue = "6379", description = "The server's port, its rdma-port"
            + " unless --tcp is given (${DEFAULT-VALUE}).")
    private int port;

    @Option(names = "--tcp", description = "Connect over TCP.")
    private boolean tcp;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this.")
    private boolean help;

    @Parameters(paramLabel = "WORD", description = "A command and its arguments.")
    private List<String> words = List.of();

    @Spec
    private CommandSpec spec;

    /** Created by picocli. */
    public ValkeyCli() {
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Usage.requirePort(spec, port);
        Usage.require(spec, port != 0, "a client needs the server's port: -p PORT");
        InetSocketAddress server = new InetSocketAddress(address, port);
        if (tcp) {
            return run(TcpStream.connect(server));
        }
        try (ConnectionManager manager = ConnectionManager.open()) {
            return run(RdmaStream.connect(manager, server, WaitPolicy.defaults()));
        }
    }

    private int run(ByteStream stream) throws IOException, InterruptedException {
        Console console = new Console(spec.commandLine().getOut(), spec.commandLine().getErr(), false);
        try (ValkeyClient client = new ValkeyClient(stream)) {
            if (!words.isEmpty()) {
                return run(client, words, console);
            }
            int status = 0;
            BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (!line.isBlank()) {
                    status |= run(client, List.of(line.strip().split("\\s+")), console);
                }
            }
            return status;
        }
    }

    private static int run(ValkeyClient client, List<String> command, Console console)
            throws IOException, InterruptedException {
        Reply reply = client.call(command.toArray(String[]::new));
        console.print(reply.toString());
        return reply instanceof Reply.Failure ? 1 : 0;
    }
}
