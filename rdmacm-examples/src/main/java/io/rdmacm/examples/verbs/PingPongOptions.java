// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

import io.rdmacm.examples.support.Usage;
import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.address.Gid;
import io.rdmacm.verbs.device.LinkLayer;
import io.rdmacm.verbs.device.PortAttributes;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The options that all ping-pongs have, and what can be derived from them. */
class PingPongOptions {
    private static final int MAX_SERVICE_LEVEL = 15;
    private static final int PACKET_NUMBERS = 1 << 24;

    @Parameters(arity = "0..1", paramLabel = "HOST", description = "The server; without it, run as the server.")
    private String host;

    @Option(names = {"-p", "--port"}, paramLabel = "PORT", defaultValue = "18515",
            description = "The server's TCP port for the exchange of addresses (${DEFAULT-VALUE}); with 0, the server"
                    + " chooses a free one and prints it.")
    private int port;

    @Mixin
    private DeviceChoice device;

    @Option(names = {"-i", "--ib-port"}, paramLabel = "PORT", defaultValue = "1",
            description = "The port of the device (${DEFAULT-VALUE}).")
    private int devicePort;

    @Option(names = {"-g", "--gid-idx"}, paramLabel = "INDEX", defaultValue = "-1",
            description = "The index of the port's GID, as listed by ibv_devinfo -v; required on Ethernet.")
    private int gidIndex;

    @Option(names = {"-r", "--rx-depth"}, paramLabel = "COUNT", defaultValue = "500",
            description = "How many receives are posted at a time (${DEFAULT-VALUE}).")
    private int depth;

    @Option(names = {"-n", "--iters"}, paramLabel = "COUNT", defaultValue = "1000",
            description = "How many messages each side sends (${DEFAULT-VALUE}).")
    private int iterations;

    @Option(names = {"-l", "--sl"}, paramLabel = "LEVEL", defaultValue = "0",
            description = "The service level of the messages (${DEFAULT-VALUE}).")
    private int serviceLevel;

    @Option(names = {"-e", "--events"}, description = "Sleep on completion events instead of polling.")
    private boolean events;

    @Option(names = {"-c", "--chk"}, description = "Validate the data: the client marks each page of its message, and"
            + " the server checks the marks at the end. Both sides need the option.")
    private boolean check;

    @Option(names = "--timeout", paramLabel = "SECONDS", defaultValue = "60",
            description = "How long to wait for the peer (${DEFAULT-VALUE}).")
    private int seconds;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this.")
    private boolean help;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec program;

    /** Checks the options; an invalid one ends the program. */
    void check() {
        Usage.requirePort(program, port);
        Usage.require(program, !isClient() || port != 0, "a client needs the server's port: -p PORT");
        Usage.require(program, devicePort >= 1 && devicePort <= 255, "Invalid port of a device " + devicePort);
        Usage.require(program, gidIndex >= -1 && gidIndex <= 255, "Invalid GID index " + gidIndex);
        Usage.require(program, depth >= 1, "Invalid number of receives " + depth);
        Usage.require(program, iterations >= 1, "Invalid number of iterations " + iterations);
        Usage.require(program, serviceLevel >= 0 && serviceLevel <= MAX_SERVICE_LEVEL,
                "Invalid service level " + serviceLevel);
        Usage.require(program, seconds >= 1 && seconds <= Integer.MAX_VALUE / 1000, "Invalid timeout " + seconds);
    }

    /** Ends the program with a usage error unless a condition holds. */
    void require(boolean met, String message) {
        Usage.require(program, met, message);
    }

    /** Prints a line. */
    void print(String line) {
        program.commandLine().getOut().println(line);
    }

    /** Prints a line on standard error. */
    void report(String line) {
        program.commandLine().getErr().println(line);
    }

    boolean isClient() {
        return host != null;
    }

    String host() {
        return host;
    }

    int port() {
        return port;
    }

    int devicePort() {
        return devicePort;
    }

    int depth() {
        return depth;
    }

    int iterations() {
        return iterations;
    }

    boolean usesEvents() {
        return events;
    }

    /** Returns whether this side marks its message. */
    boolean marksData() {
        return check && isClient();
    }

    /** Returns whether this side checks the marks. */
    boolean checksData() {
        return check && !isClient();
    }

    Duration timeout() {
        return Duration.ofSeconds(seconds);
    }

    int timeoutMillis() {
        return (int) timeout().toMillis();
    }

    VerbsContext openDevice() throws IOException {
        return device.one().open();
    }

    /** Opens a device that can do what is needed, see {@link DeviceChoice#openOne}. */
    VerbsContext openDevice(DeviceChoice.Need need, String what) throws IOException {
        return device.openOne(need, what);
    }

    /** Returns the index of the port's GID; a port that has only one needs no option. */
    int gidIndexOrFirst() {
        return Math.max(0, gidIndex);
    }

    /** Creates a completion channel, or returns null if the queue is to be polled. */
    CompletionChannel createChannel(VerbsContext context) throws IOException {
        return events ? context.createCompletionChannel() : null;
    }

    /** Creates a completion queue; the channel may be null. */
    CompletionQueue createQueue(VerbsContext context, CompletionChannel channel, int capacity) throws IOException {
        return channel == null ? context.createCompletionQueue(capacity)
                : context.createCompletionQueue(capacity, channel);
    }

    /** Returns the address of a local queue pair, for the peer. */
    Destination destination(QueuePair pair) throws IOException {
        VerbsContext context = pair.context();
        PortAttributes attributes = context.queryPort(devicePort);
        String name = "port " + devicePort + " of " + context.deviceName();
        if (gidIndex < 0 && attributes.linkLayer() == LinkLayer.ETHERNET) {
            throw new IOException(name + " is on Ethernet, where ports are addressed by GIDs: choose one with -g"
                    + " (ibv_devinfo -v lists them)");
        }
        if (attributes.linkLayer() != LinkLayer.ETHERNET && attributes.lid() == 0) {
            throw new IOException(name + " has no LID: it is " + attributes.state() + ", or no subnet manager runs");
        }
        Gid gid = gidIndex < 0 ? Destination.NONE.gid() : context.queryGid(devicePort, gidIndex);
        if (gidIndex >= 0 && gid.isZero()) {
            throw new IOException(name + " has no GID " + gidIndex);
        }
        int firstPacket = ThreadLocalRandom.current().nextInt(PACKET_NUMBERS);
        return new Destination(attributes.lid(), pair.number(), firstPacket, gid);
    }

    /** Returns the path to the peer's port. */
    AddressAttributes pathTo(Destination peer) throws IOException {
        AddressAttributes.Builder path = AddressAttributes.builder().port(devicePort).destinationLid(peer.lid())
                .serviceLevel(serviceLevel);
        if (peer.gid().interfaceId() != 0) {
            if (gidIndex < 0) {
                throw new IOException("the peer uses a GID: this side has to use one too, with -g");
            }
            path.globalRoute(peer.gid(), gidIndex);
        } else if (gidIndex >= 0) {
            throw new IOException("the peer uses no GID: start it with -g too");
        }
        return path.build();
    }
}
