// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.forked;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.EndpointAttributes;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.PortSpace;
import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.ConnectionHandler;
import io.rdmacm.core.connection.ConnectionLoopGroup;
import io.rdmacm.core.connection.ConnectionManager;
import io.rdmacm.core.connection.ConnectionSettings;
import io.rdmacm.core.connection.Listener;
import io.rdmacm.core.connection.LoopSettings;
import io.rdmacm.core.connection.Message;
import io.rdmacm.core.internal.engine.Loop;
import io.rdmacm.core.nio.RdmaSelectorProvider;
import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.core.stream.RdmaStreamServer;
import io.rdmacm.core.testing.EndpointPair;
import io.rdmacm.core.testing.EndpointWait;
import io.rdmacm.core.testing.Loopback;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.work.AccessFlag;
import org.opentest4j.TestAbortedException;

/**
 * Platform threads use what virtual threads wait for, too, while another virtual thread keeps the only carrier. Says
 * what has been done, a line each.
 */
public final class BusyCarriers {
    private static final Duration TIMEOUT = Duration.ofSeconds(120);

    // virtual threads that wait
    private static final List<Background<?>> PARKED = new ArrayList<>();
    private static volatile boolean busy;

    private BusyCarriers() {
    }

    /** The arguments: an address of this machine, and what to use, one after the other. */
    public static void main(String[] args) throws Exception {
        InetSocketAddress any = new InetSocketAddress(InetAddress.ofLiteral(args[0]), 0);
        for (int i = 1; i < args.length; i++) {
            System.out.println(args[i]);
            CountDownLatch done = new CountDownLatch(1);
            Thread.ofPlatform().daemon().start(() -> watch(done));
            use(args[i], any);
            done.countDown();
        }
        System.out.println("fine");
    }

    private static void use(String what, InetSocketAddress any) throws Exception {
        switch (what) {
            case "streams" -> streams(any);
            case "connections" -> connections(any, null);
            case "loops" -> connections(any, LoopSettings.defaults());
            case "shared receives" -> connections(any, LoopSettings.builder().sharedReceives(64, 4096).build());
            case "verbs" -> verbs();
            case "endpoints" -> endpoints();
            case "disconnects" -> disconnects();
            case "locks" -> locks(any);
            case "channels" -> channels(any);
            default -> throw new IllegalArgumentException(what);
        }
        busy = false;
        for (Background<?> parked : PARKED) {
            try {
                parked.result();
            } catch (Exception e) {
                // What it has waited for is closed.
            }
        }
        PARKED.clear();
    }

    /** Ends the program if something hangs, and says where. */
    private static void watch(CountDownLatch done) {
        try {
            if (done.await(2 * TIMEOUT.toSeconds(), TimeUnit.SECONDS)) {
                return;
            }
        } catch (InterruptedException e) {
            return;
        }
        Thread.getAllStackTraces().forEach((thread, frames) -> System.out.println(thread + "\n    "
                + Stream.of(frames).map(Object::toString).collect(Collectors.joining("\n    "))));
        Runtime.getRuntime().halt(1);
    }

    /** Starts a virtual thread that waits. */
    private static void park(Callable<?> wait) {
        PARKED.add(Background.virtual(wait).awaitAsleep());
    }

    /** Takes the only carrier. */
    private static void occupy() throws InterruptedException {
        CountDownLatch running = new CountDownLatch(1);
        busy = true;
        Thread.ofVirtual().start(() -> {
            running.countDown();
            while (busy) {
                Thread.onSpinWait();
            }
        });
        running.await();
    }

    private static void await(CountDownLatch latch) throws InterruptedException {
        if (!latch.await(TIMEOUT.toSeconds(), TimeUnit.SECONDS)) {
            throw new AssertionError("not in time");
        }
    }

    private static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
    }

    private static void streams(InetSocketAddress any) throws Exception {
        RdmaStreamServer server = RdmaStreamServer.listen(any);
        RdmaStream client = RdmaStream.connect(server.localAddress(), TIMEOUT);
        RdmaStream accepted = server.accept(TIMEOUT);
        ByteBuffer large = ByteBuffer.allocate(4_000_000);
        park(() -> server.accept(TIMEOUT));
        park(() -> client.read(ByteBuffer.allocate(1), TIMEOUT));
        park(() -> accepted.await(RdmaStream.READABLE, TIMEOUT));
        occupy();
        try (Background<Void> writing = Background.run(() -> client.write(large, TIMEOUT))) {
            ByteBuffer target = ByteBuffer.allocate(large.capacity());
            while (target.hasRemaining()) {
                accepted.read(target, TIMEOUT);
            }
            writing.result();
        }
        System.out.println("written and read");
        RdmaStream other = RdmaStream.connect(server.localAddress(), TIMEOUT);
        RdmaStream otherAccepted = server.accept(TIMEOUT);
        System.out.println("connected");
        get(other.closeAsync());
        expect(otherAccepted.read(ByteBuffer.allocate(1), TIMEOUT) < 0);
        otherAccepted.close();
        client.close();
        accepted.close();
        System.out.println("closed");
        server.close();
        System.out.println("server closed");
    }

    private static void connections(InetSocketAddress any, LoopSettings loops) throws Exception {
        ConnectionManager servers = ConnectionManager.open();
        ConnectionManager clients = ConnectionManager.open();
        ConnectionLoopGroup group = loops == null ? null : servers.startLoops(loops);
        ConnectionSettings settings = ConnectionSettings.builder().loops(group).build();
        Listener listener = servers.listen(any, 8, settings);
        CountDownLatch messages = new CountDownLatch(2);
        Listener handled = servers.listen(any, 8, ConnectionSettings.builder().loops(group)
                .handler(new ConnectionHandler() {
                    @Override
                    public void onMessage(Connection connection, Message message) {
                        messages.countDown();
                    }
                }).build());
        handled.acceptAll();
        CompletableFuture<Connection> connecting = clients.connectAsync(listener.address(),
                ConnectionSettings.defaults(), TIMEOUT);
        Connection server = listener.accept(TIMEOUT);
        Connection client = get(connecting);
        park(() -> server.receive(TIMEOUT));
        park(() -> client.receive(TIMEOUT));
        park(() -> listener.accept(TIMEOUT));
        occupy();
        exchange(client, server);
        System.out.println("sent and received beside a virtual thread");
        try (Background<Connection> accepting = Background.call(() -> listener.accept(TIMEOUT)).awaitAsleep()) {
            Connection other = clients.connect(listener.address(), TIMEOUT);
            exchange(other, accepting.result());
            other.close();
        }
        System.out.println("connected");
        CountDownLatch told = new CountDownLatch(2);
        Connection toHandler = get(clients.connectAsync(handled.address(), ConnectionSettings.defaults(), TIMEOUT));
        toHandler.send(new byte[1], TIMEOUT);
        try (MemoryRegion region = toHandler.protectionDomain().allocate(64, AccessFlag.LOCAL_WRITE)) {
            expect(toHandler.queue().send(region, 0, 1, (connection, context, failure) -> told.countDown(), 0));
            get(client.async().send(region, 0, 1).thenRun(told::countDown));
            await(told);
        }
        await(messages);
        System.out.println("handlers and futures");
        client.disconnect(TIMEOUT);
        server.close();
        client.close();
        System.out.println("closed");
        clients.close();
        if (group != null) {
            handled.close();
            listener.close();
        }
        servers.close();
        System.out.println("managers closed");
    }

    private static void exchange(Connection client, Connection server) throws Exception {
        try (MemoryRegion local = client.protectionDomain().allocate(64, AccessFlag.LOCAL_WRITE);
                MemoryRegion remote = server.protectionDomain().allocate(64, AccessFlag.LOCAL_WRITE,
                        AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_ATOMIC)) {
            for (int i = 0; i < 100; i++) {
                client.send(new byte[i], TIMEOUT);
                try (Message message = server.receive(TIMEOUT)) {
                    server.send(message.memory(), TIMEOUT);
                }
                client.receive(TIMEOUT).close();
            }
            client.write(local, 0, 64, remote.remoteMemory(), TIMEOUT);
            client.read(local, 0, 64, remote.remoteMemory(), TIMEOUT);
            expect(RdmaTestDevice.get().isIwarp()
                    || client.fetchAndAdd(remote.remoteMemory(), 1, TIMEOUT) == 0);
        }
    }

    private static void verbs() throws Exception {
        try (Loopback loopback = new Loopback(); EventChannel channel = EventChannel.open();
                EventChannel other = EventChannel.open(); Loopback.Pair pair = loopback.connect(channel)) {
            park(() -> pair.server().queue.await(WorkCompletions.allocate(1), TIMEOUT));
            // one that never comes, so that no event is left open
            park(() -> other.getEvent(TIMEOUT));
            park(() -> loopback.channel.await(loopback.listener, CmEventType.ADDR_CHANGE, TIMEOUT));
            occupy();
            for (int i = 0; i < 100; i++) {
                pair.client().sendMessagesTo(pair.server());
            }
            System.out.println("completions");
            try (Loopback.Pair second = loopback.connect(other)) {
                second.client().sendMessagesTo(second.server());
            }
            System.out.println("events");
        }
        System.out.println("closed");
    }

    private static void endpoints() throws Exception {
        List<EndpointWait> waits = new ArrayList<>();
        for (EndpointWait.Maker maker : EndpointWait.ALL.values()) {
            try {
                EndpointWait wait = maker.make();
                waits.add(wait);
                park(() -> {
                    wait.run(TIMEOUT);
                    return null;
                });
            } catch (TestAbortedException e) {
                System.out.println(e.getMessage());
            }
        }
        occupy();
        for (EndpointWait wait : waits) {
            wait.close();
        }
        System.out.println("closed");
    }

    /** A virtual and a platform thread wait for the lock of a loop, the virtual one first, when it has no carrier. */
    private static void locks(InetSocketAddress any) throws Exception {
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, PortSpace.TCP)) {
            id.bindAddress(any);
            Loop loop = new Loop(id.context(), 16, true);
            ReentrantLock lock = loop.lock;
            lock.lock();
            Background<?> virtual = Background.virtual(loop::members).awaitWaiting();
            Background<?> platform = Background.call(loop::members).awaitWaiting();
            occupy();
            lock.unlock();
            platform.result();
            System.out.println("locked");
            busy = false;
            virtual.result();
            loop.close();
        }
    }

    private static void disconnects() throws Exception {
        if (RdmaTestDevice.get().isIwarp()) {
            // The end of a connection of TCP waits for nobody.
            return;
        }
        try (EndpointPair pair = EndpointPair.connect(EndpointAttributes.defaults())) {
            park(() -> {
                pair.client.disconnect(TIMEOUT);
                return null;
            });
            occupy();
            try (Background<Void> platform = Background.run(() -> pair.client.disconnect(TIMEOUT))) {
                platform.awaitAsleep();
                pair.server.disconnect(TIMEOUT);
                platform.result();
                System.out.println("disconnected");
            }
        }
    }

    /** The same for the lock of one side of a channel. */
    private static void channels(InetSocketAddress any) throws Exception {
        try (ServerSocketChannel server = RdmaSelectorProvider.instance().openServerSocketChannel().bind(any);
                SocketChannel client = RdmaSelectorProvider.instance().openSocketChannel()) {
            client.connect(server.getLocalAddress());
            try (SocketChannel accepted = server.accept()) {
                Background<?> first = Background.call(() -> accepted.read(ByteBuffer.allocate(1))).awaitAsleep();
                Background<?> virtual = Background.virtual(() -> accepted.read(ByteBuffer.allocate(1)))
                        .awaitWaiting();
                Background<?> platform = Background.call(() -> accepted.read(ByteBuffer.allocate(1))).awaitWaiting();
                occupy();
                client.write(ByteBuffer.allocate(3));
                first.result();
                platform.result();
                System.out.println("read");
                busy = false;
                virtual.result();
            }
        }
    }

    private static void expect(boolean condition) {
        if (!condition) {
            throw new AssertionError("unexpected");
        }
    }
}
