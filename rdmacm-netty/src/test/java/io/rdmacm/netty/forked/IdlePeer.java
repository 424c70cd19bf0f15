// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty.forked;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.verbs.testing.ForkedJvm;

/** A program that connects to a server, once or more often, and neither reads nor writes until it is killed. */
public final class IdlePeer {
    private static final Duration TIMEOUT = Duration.ofMinutes(4);

    private IdlePeer() {
    }

    /** Starts it in a process of its own, with so many connections. */
    public static Process start(InetSocketAddress server, int connections) throws IOException {
        List<String> command = ForkedJvm.command();
        // It ends before compiled code would pay.
        command.addAll(List.of("-Xint", "--enable-native-access=ALL-UNNAMED", "-cp",
                System.getProperty("java.class.path"), IdlePeer.class.getName(),
                server.getAddress().getHostAddress(), Integer.toString(server.getPort()),
                Integer.toString(connections)));
        return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }

    /** SIGKILL. */
    public static void kill(Process peer) throws IOException, InterruptedException {
        peer.destroyForcibly().waitFor(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
        peer.getInputStream().close();
        peer.getOutputStream().close();
    }

    /** The program: address and port of the server, and the number of connections. */
    public static void main(String[] args) throws Exception {
        InetSocketAddress server = new InetSocketAddress(args[0], Integer.parseInt(args[1]));
        List<RdmaStream> streams = new ArrayList<>();
        for (int i = 0; i < Integer.parseInt(args[2]); i++) {
            streams.add(RdmaStream.connect(server, TIMEOUT));
        }
        System.out.println(streams);
        // Until the process that started this one has ended.
        System.in.read();
        for (RdmaStream stream : streams) {
            stream.close();
        }
    }
}
