// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.forked;

import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.DeviceRemovedException;
import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.Endpoint;
import io.rdmacm.core.EndpointAttributes;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.PortSpace;
import io.rdmacm.core.RdmaDevices;
import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.ConnectionManager;
import io.rdmacm.core.connection.Listener;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.work.SendFlag;
import io.rdmacm.verbs.work.WorkCompletion;
import io.rdmacm.verbs.work.WorkCompletionStatus;

/**
 * A program whose device is removed under it, and comes back. The arguments: the device, its network interface and its
 * address. It prints what it sees, "silent" when the kernel does not tell, and "fine" at the end. SoftRoCE is not gone
 * before its users have closed it, so each removal runs beside.
 */
public final class RemovedDevice {
    private static final Duration TIMEOUT = Duration.ofMinutes(4);
    // the kernel tells at once, if it does
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final int BYTES = 4096;

    private final String device;
    private final String networkInterface;
    private final InetSocketAddress address;
    // whether the kernel waits for the device to be closed before it tells that it is removed
    private boolean silent;

    private RemovedDevice(String... args) {
        device = args[0];
        networkInterface = args[1];
        address = new InetSocketAddress(args[2], 0);
    }

    /** Runs all of it. */
    public static void main(String[] args) throws Exception {
        RemovedDevice test = new RemovedDevice(args);
        VerbsContext before = test.underTraffic();
        test.addDevice();
        test.comesBack(before);
        test.underWhatWasMadeOfIt();
        test.addDevice();
        test.underConnections();
        test.addDevice();
        expect(Lifetime.openObjects() == 0, "objects are left open");
        System.out.println("fine");
    }

    private static void expect(boolean condition, String otherwise) {
        if (!condition) {
            throw new AssertionError(otherwise);
        }
    }

    private Process remove() throws Exception {
        return new ProcessBuilder("rdma", "link", "delete", device).inheritIO().start();
    }

    /** Until the kernel does not show it any more, of which nothing tells a program that does not use it. */
    private void awaitUnlisted() throws Exception {
        long end = System.nanoTime() + TIMEOUT.toNanos();
        while (RdmaDevices.list().stream().anyMatch(context -> context.deviceName().equals(device))) {
            expect(System.nanoTime() < end, "the device is still shown");
            Thread.sleep(20);
        }
    }

    private void addDevice() throws Exception {
        int status = new ProcessBuilder("rdma", "link", "add", device, "type", "rxe", "netdev", networkInterface)
                .inheritIO().start().waitFor();
        expect(status == 0, "the device could not be added");
    }

    /** Lets librdmacm see that the device is gone, and close it; then the kernel lets it go. */
    private static void awaitRemoval(Process removal) throws Exception {
        long end = System.nanoTime() + TIMEOUT.toNanos();
        do {
            RdmaDevices.list();
            expect(System.nanoTime() < end, "the device is still there");
        } while (!removal.waitFor(100, TimeUnit.MILLISECONDS));
        expect(removal.exitValue() == 0, "the device could not be removed");
    }

    /** Two ends of a connection over the device. */
    private record Pair(Endpoint listener, Endpoint server, Endpoint client) implements AutoCloseable {
        @Override
        public void close() throws RdmaException {
            client.close();
            server.close();
            listener.close();
        }
    }

    private Pair connect() throws Exception {
        Endpoint listener = Endpoint.createPassive(address, PortSpace.TCP, EndpointAttributes.defaults());
        listener.listen(4);
        Endpoint client = Endpoint.createActive(listener.localAddress(), PortSpace.TCP, EndpointAttributes.defaults(),
                TIMEOUT);
        try (Background<Void> connecting = Background.run(
                () -> client.connect(ConnectionParameters.defaults(), TIMEOUT))) {
            Endpoint server = listener.getRequest(TIMEOUT);
            server.accept(ConnectionParameters.defaults(), TIMEOUT);
            connecting.result();
            return new Pair(listener, server, client);
        }
    }

    /** Writes until something happens; tells what. */
    private static String write(Endpoint client, MemoryRegion from, MemoryRegion to) throws Exception {
        try {
            while (true) {
                client.postWrite(1, from, 0, BYTES, Set.of(SendFlag.SIGNALED), to.remoteMemory());
                WorkCompletion completion = client.getSendCompletion(TIMEOUT);
                if (completion.status() != WorkCompletionStatus.SUCCESS) {
                    return completion.status().toString();
                }
            }
        } catch (DisconnectedException | DeviceRemovedException e) {
            return e.getClass().getSimpleName();
        }
    }

    private static String receive(Endpoint endpoint) throws Exception {
        try {
            return endpoint.getReceiveCompletion(TIMEOUT).status().toString();
        } catch (DisconnectedException | DeviceRemovedException e) {
            return e.getClass().getSimpleName();
        }
    }

    /** What the listener is told; null when that is nothing. */
    private String told(Endpoint listener) throws Exception {
        try {
            listener.getRequest(PATIENCE).close();
            throw new AssertionError("nobody has asked for a connection");
        } catch (RdmaTimeoutException e) {
            silent = true;
            return null;
        } catch (DeviceRemovedException e) {
            return e.getClass().getSimpleName();
        }
    }

    private VerbsContext underTraffic() throws Exception {
        VerbsContext context;
        Process removal;
        try (Arena arena = Arena.ofShared(); Pair pair = connect()) {
            context = pair.client().context();
            expect(context.deviceName().equals(device), "the connection is over " + context);
            MemoryRegion from = pair.client().registerMessages(arena.allocate(BYTES, BYTES));
            MemoryRegion to = pair.server().registerWrite(arena.allocate(BYTES, BYTES));
            try (Background<String> writing = Background.call(() -> write(pair.client(), from, to));
                    Background<String> receiving = Background.call(() -> receive(pair.server()));
                    // a writer that finds a completion each time it looks does not wait, and so reads no events
                    Background<String> watching = Background.call(() -> receive(pair.client()))) {
                long start = System.nanoTime();
                removal = remove();
                String told = told(pair.listener());
                if (silent) {
                    System.out.println("silent");
                    // as a program that is told otherwise, or not at all
                    pair.client().disconnect(TIMEOUT);
                } else {
                    // a connection goes on until the device is closed
                    pair.client().queuePair().orElseThrow().modifyToError();
                    System.out.println("listener: " + told + " after "
                            + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start) + " ms");
                }
                System.out.println("watcher: " + watching.result());
                System.out.println("writer: " + writing.result());
                System.out.println("receiver: " + receiving.result());
            }
        }
        awaitRemoval(removal);
        expectClosed(context);
        return context;
    }

    private static void expectClosed(VerbsContext context) throws RdmaException {
        try {
            context.allocateProtectionDomain().close();
            throw new AssertionError("the context of a removed device makes protection domains");
        } catch (IllegalStateException e) {
            System.out.println("context: " + e.getMessage());
        }
        expect(!context.isOpen(), "the context of a removed device is open");
    }

    private void comesBack(VerbsContext before) throws Exception {
        try (Pair pair = connect()) {
            VerbsContext context = pair.client().context();
            expect(context != before, "the context of the removed device is taken for that of the new one");
            expect(context.queryDevice().maxQueuePairs() > 0, "the new device tells nothing");
        }
        expectClosed(before);
    }

    /** What was made of the context of librdmacm keeps the last id open, for with that C would close the context. */
    private void underWhatWasMadeOfIt() throws Exception {
        try (EventChannel channel = EventChannel.open()) {
            CmId id = CmId.open(channel, PortSpace.TCP);
            id.bindAddress(address);
            ProtectionDomain domain = id.context().allocateProtectionDomain();
            Process removal = remove();
            if (!silent) {
                try {
                    channel.await(id, CmEventType.CONNECT_REQUEST, TIMEOUT).close();
                    throw new AssertionError("nobody has asked for a connection");
                } catch (DeviceRemovedException e) {
                    System.out.println("id: DeviceRemovedException");
                }
            }
            awaitUnlisted();
            try {
                id.close();
                throw new AssertionError("the context is gone, and a protection domain of it is open");
            } catch (IllegalStateException e) {
                System.out.println("last id: " + e.getMessage());
            }
            expect(domain.isOpen() && id.isOpen(), "a close that was refused has closed something");
            domain.close();
            id.close();
            awaitRemoval(removal);
        }
    }

    /** A connection manager, which keeps resources of the device, closes all the same. */
    private void underConnections() throws Exception {
        Process removal;
        try (ConnectionManager manager = ConnectionManager.open(); Listener listener = manager.listen(address);
                Background<Connection> connecting = Background.call(
                        () -> manager.connect(listener.address(), TIMEOUT));
                Connection server = listener.accept(TIMEOUT); Connection client = connecting.result()) {
            expect(client.isConnected(), "there is no connection");
            removal = remove();
            if (!silent) {
                try {
                    server.receive(TIMEOUT).close();
                    throw new AssertionError("nobody has sent a message");
                } catch (RdmaTimeoutException e) {
                    throw new AssertionError("the connection does not end", e);
                } catch (RdmaException e) {
                    System.out.println("connection: " + e.getClass().getSimpleName());
                }
            }
        }
        awaitRemoval(removal);
    }
}
