// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;

import io.rdmacm.core.forked.Peer;
import io.rdmacm.verbs.testing.ForkedJvm;
import io.rdmacm.verbs.testing.Measured;
import io.rdmacm.verbs.testing.RdmaTestDevice;

/** The program {@link Peer} in a process of its own, to be killed. */
public final class PeerProcess implements AutoCloseable {
    private final Process process;
    private final BufferedReader output;

    private PeerProcess(Process process) {
        this.process = process;
        this.output = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    /** Starts it with the phases to go to, one after the other, each with its argument behind a "=". */
    public static PeerProcess start(String... phases) throws IOException {
        List<String> command = ForkedJvm.command();
        // It ends before compiled code would pay.
        command.addAll(List.of("-Xint", "--enable-native-access=ALL-UNNAMED", "-cp",
                System.getProperty("java.class.path"), Peer.class.getName(),
                RdmaTestDevice.get().ipv4().getHostAddress()));
        command.addAll(List.of(phases));
        return new PeerProcess(new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
    }

    /** The next line that it says. */
    public String line() throws IOException {
        String line = output.readLine();
        if (line == null) {
            throw new IOException("the peer has ended");
        }
        return line;
    }

    /** SIGKILL; tells when that was. */
    public Measured kill() throws InterruptedException {
        Measured killed = Measured.fromNow();
        process.destroyForcibly().waitFor();
        return killed;
    }

    /** Stops it until {@link #goOn()}. */
    public void pause() throws IOException, InterruptedException {
        signal("STOP");
    }

    /** Lets it go on. */
    public void goOn() throws IOException, InterruptedException {
        signal("CONT");
    }

    private void signal(String name) throws IOException, InterruptedException {
        int status = new ProcessBuilder("sh", "-c", "kill -" + name + " " + process.pid()).start().waitFor();
        if (status != 0) {
            throw new IOException("SIG" + name + " could not be sent: status " + status);
        }
    }

    @Override
    public void close() throws IOException {
        process.destroyForcibly();
        output.close();
        process.getOutputStream().close();
    }
}
