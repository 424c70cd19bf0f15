// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.testing;

import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;

import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.address.Gid;
import io.rdmacm.verbs.address.GidEntry;
import io.rdmacm.verbs.testing.RdmaTestDevice;

/** Starts the ping-pong programs of libibverbs: the Java ones or those of rdma-core. */
public final class PingPongs {
    private static final int MANY = 1024;

    private PingPongs() {
    }

    /**
     * A server that is listening.
     *
     * @param name the name of the program, such as {@code ibv_rc_pingpong}
     * @param program the server
     * @param port the TCP port that it listens on
     */
    public record Server(String name, Program program, int port) implements AutoCloseable {
        /** Starts a client of this server. */
        public Program client(Kind kind, List<String> options) throws IOException {
            List<String> arguments = new ArrayList<>(options);
            arguments.addAll(List.of("-p", "" + port, "localhost"));
            return kind.start(name, arguments);
        }

        @Override
        public void close() {
            program.close();
        }
    }

    /** Starts a server and waits until it listens. */
    public static Server server(String name, Kind kind, List<String> options) throws IOException, InterruptedException {
        // The Java program picks a free port and prints it; the C program must be given one.
        int port = kind == Kind.C ? Ports.freeTcp() : 0;
        List<String> arguments = new ArrayList<>(options);
        arguments.addAll(List.of("-p", "" + port));
        Program program = kind.start(name, arguments);
        if (kind == Kind.C) {
            Ports.awaitTcp(program, port);
        } else {
            port = Integer.parseInt(program.awaitOutput("  listening on port (\\d+)").group(1));
        }
        return new Server(name, program, port);
    }

    /**
     * Returns the options that select the device under test and the GID for an address of its network interface. Skips
     * the test if the programs cannot connect its queue pairs.
     */
    public static List<String> device(InetAddress address) throws IOException {
        RdmaTestDevice.assumeConnectedByHand();
        String name = RdmaTestDevice.get().name();
        Device device = Device.list().stream().filter(d -> d.name().equals(name)).findFirst().orElseThrow();
        try (VerbsContext context = device.open()) {
            Gid gid = Gid.ofAddress(address);
            GidEntry entry = context.queryGidTable(MANY).stream().filter(e -> e.gid().equals(gid)).findFirst()
                    .orElseThrow();
            return List.of("-d", name, "-i", "" + entry.port(), "-g", "" + entry.index());
        }
    }

    /** Returns the options that select the device and the GID for its IPv4 address, followed by others. */
    public static List<String> options(String... more) throws IOException {
        List<String> options = new ArrayList<>(device(RdmaTestDevice.get().ipv4()));
        options.addAll(List.of(more));
        return options;
    }
}
