// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.testing;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.iovec;
import io.rdmacm.bindings.msghdr;
import io.rdmacm.bindings.pollfd;
import io.rdmacm.bindings.sockaddr;
import io.rdmacm.bindings.sockaddr_in;
import io.rdmacm.bindings.sockaddr_in6;
import io.rdmacm.bindings.sockaddr_storage;
import io.rdmacm.bindings.timeval;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Errno;
import io.rdmacm.verbs.internal.ffi.NativeFunction;

/**
 * A socket of the C library's rsockets, the peer that streams are tested against. Always non-blocking, and waits only
 * by asking again. With a timeout, rpoll was seen to miss events and return five seconds late; and if its time is up
 * before it sleeps, later calls may spin forever (reported to linux-rdma on 20 September 2025).
 */
public final class CSocket implements AutoCloseable {
    /** What a transfer returns when it would have to wait. */
    public static final int WOULD_WAIT = -1;

    private static final Duration TIMEOUT = Loopback.TIMEOUT;
    private static final long PAUSE_NANOS = 1_000_000;
    private static final ValueLayout.OfShort PORT = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private static final NativeFunction RSOCKET = NativeFunction.of("rsocket");
    private static final NativeFunction RBIND = NativeFunction.of("rbind");
    private static final NativeFunction RLISTEN = NativeFunction.of("rlisten");
    private static final NativeFunction RACCEPT = NativeFunction.of("raccept");
    private static final NativeFunction RCONNECT = NativeFunction.of("rconnect");
    private static final NativeFunction RSHUTDOWN = NativeFunction.of("rshutdown");
    private static final NativeFunction RCLOSE = NativeFunction.of("rclose");
    private static final NativeFunction RRECV = NativeFunction.of("rrecv");
    private static final NativeFunction RRECVFROM = NativeFunction.of("rrecvfrom");
    private static final NativeFunction RRECVMSG = NativeFunction.of("rrecvmsg");
    private static final NativeFunction RSEND = NativeFunction.of("rsend");
    private static final NativeFunction RSENDTO = NativeFunction.of("rsendto");
    private static final NativeFunction RSENDMSG = NativeFunction.of("rsendmsg");
    private static final NativeFunction RREAD = NativeFunction.of("rread");
    private static final NativeFunction RREADV = NativeFunction.of("rreadv");
    private static final NativeFunction RWRITE = NativeFunction.of("rwrite");
    private static final NativeFunction RWRITEV = NativeFunction.of("rwritev");
    private static final NativeFunction RPOLL = NativeFunction.of("rpoll");
    private static final NativeFunction RSELECT = NativeFunction.of("rselect");
    private static final NativeFunction RGETPEERNAME = NativeFunction.of("rgetpeername");
    private static final NativeFunction RGETSOCKNAME = NativeFunction.of("rgetsockname");
    private static final NativeFunction RSETSOCKOPT = NativeFunction.of("rsetsockopt");
    private static final NativeFunction RGETSOCKOPT = NativeFunction.of("rgetsockopt");
    private static final NativeFunction RFCNTL = NativeFunction.of("rfcntl");
    private static final NativeFunction RIOMAP = NativeFunction.of("riomap");
    private static final NativeFunction RIOUNMAP = NativeFunction.of("riounmap");
    private static final NativeFunction RIOWRITE = NativeFunction.of("riowrite");

    private final int fd;

    private CSocket(int fd) throws RdmaException {
        this.fd = fd;
        Check.minusOne(RFCNTL, RFCNTL.callInt(fd, Rdma.F_SETFL(), Rdma.O_NONBLOCK()));
    }

    /** Returns a stream socket for IPv4. */
    public static CSocket open() throws RdmaException {
        return open(Rdma.AF_INET(), Rdma.SOCK_STREAM());
    }

    /** Returns a socket of a family and a type. */
    public static CSocket open(int family, int type) throws RdmaException {
        return new CSocket(Check.minusOne(RSOCKET, RSOCKET.callInt(family, type, 0)));
    }

    /** Returns a listener on a port that the kernel chooses. */
    public static CSocket listen(InetAddress address) throws RdmaException {
        CSocket listener = open(address instanceof Inet6Address ? Rdma.AF_INET6() : Rdma.AF_INET(),
                Rdma.SOCK_STREAM());
        listener.bind(new InetSocketAddress(address, 0));
        listener.listen(64);
        return listener;
    }

    /** Returns the number by which C knows the socket. */
    public int fd() {
        return fd;
    }

    /** Returns whether the socket is non-blocking. */
    public boolean isNonBlocking() throws RdmaException {
        return (Check.minusOne(RFCNTL, RFCNTL.callInt(fd, Rdma.F_GETFL())) & Rdma.O_NONBLOCK()) != 0;
    }

    /** Binds to an address. */
    public void bind(InetSocketAddress address) throws RdmaException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = write(address, arena);
            Check.minusOne(RBIND, RBIND.callInt(fd, name.address(), name.byteSize()));
        }
    }

    /** Begins to listen. */
    public void listen(int backlog) throws RdmaException {
        Check.minusOne(RLISTEN, RLISTEN.callInt(fd, backlog));
    }

    /** Returns the next connection, after waiting for it. */
    public CSocket accept() throws RdmaException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocate(sockaddr_storage.layout());
            MemorySegment length = arena.allocateFrom(ValueLayout.JAVA_INT, (int) name.byteSize());
            await(Rdma.POLLIN());
            return new CSocket(Check.minusOne(RACCEPT, RACCEPT.callInt(fd, name.address(), length.address())));
        }
    }

    /** Begins to connect; {@link #finishConnect} ends it. */
    public void connect(InetSocketAddress address) throws RdmaException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = write(address, arena);
            if (RCONNECT.callInt(fd, name.address(), name.byteSize()) != 0 && Errno.last() != Rdma.EINPROGRESS()) {
                Check.minusOne(RCONNECT, -1);
            }
        }
    }

    /** Waits until the socket is connected, or has failed to, and returns the error number: 0 if it is connected. */
    public int finishConnect() throws RdmaException {
        await(Rdma.POLLOUT());
        return option(Rdma.SOL_SOCKET(), Rdma.SO_ERROR());
    }

    /** Connects to a listener, which accepts in the meantime. */
    public static Pair pair(CSocket listener) throws RdmaException {
        CSocket client = open();
        client.connect(listener.localAddress());
        CSocket server = listener.accept();
        int error = client.finishConnect();
        if (error != 0) {
            throw new AssertionError("connecting failed with errno " + error);
        }
        return new Pair(client, server);
    }

    /** Two connected sockets. */
    public record Pair(CSocket client, CSocket server) implements AutoCloseable {
        @Override
        public void close() throws RdmaException {
            client.close();
            server.close();
        }
    }

    /** A function that transfers the bytes of a segment. */
    public enum Transfer {
        RECV(RRECV), READ(RREAD), READV(RREADV), RECVFROM(RRECVFROM), RECVMSG(RRECVMSG),
        SEND(RSEND), WRITE(RWRITE), WRITEV(RWRITEV), SENDTO(RSENDTO), SENDMSG(RSENDMSG);

        private final NativeFunction function;

        Transfer(NativeFunction function) {
            this.function = function;
        }

        private long call(int fd, MemorySegment data, int flags, Arena arena) throws RdmaException {
            return switch (this) {
                case RECV, SEND -> function.callLong(fd, data.address(), data.byteSize(), flags);
                case READ, WRITE -> function.callLong(fd, data.address(), data.byteSize());
                case READV -> function.callLong(fd, vector(arena, data).address(), 1);
                case WRITEV -> function.callLong(fd, vector(arena, data.asSlice(0, data.byteSize() / 2),
                        data.asSlice(data.byteSize() / 2)).address(), 2);
                case RECVFROM -> function.callLong(fd, data.address(), data.byteSize(), flags,
                        arena.allocate(sockaddr_storage.layout()).address(), arena.allocateFrom(ValueLayout.JAVA_INT,
                                (int) sockaddr_storage.sizeof()).address());
                case SENDTO -> function.callLong(fd, data.address(), data.byteSize(), flags, 0, 0);
                case RECVMSG, SENDMSG -> {
                    MemorySegment message = msghdr.allocate(arena);
                    msghdr.msg_iov(message, vector(arena, data));
                    msghdr.msg_iovlen(message, 1);
                    yield function.callLong(fd, message.address(), flags);
                }
            };
        }

        private static MemorySegment vector(Arena arena, MemorySegment... parts) {
            MemorySegment vector = iovec.allocateArray(parts.length, arena);
            for (int i = 0; i < parts.length; i++) {
                iovec.iov_base(iovec.asSlice(vector, i), parts[i]);
                iovec.iov_len(iovec.asSlice(vector, i), parts[i].byteSize());
            }
            return vector;
        }
    }

    /** Transfers some bytes, and returns how many: 0 at the end of the stream, {@link #WOULD_WAIT} if none can be. */
    public long transfer(Transfer by, MemorySegment data, int flags) throws RdmaException {
        try (Arena arena = Arena.ofConfined()) {
            long bytes = by.call(fd, data, flags, arena);
            if (bytes == -1) {
                if (Errno.last() == Rdma.EAGAIN()) {
                    return WOULD_WAIT;
                }
                Check.minusOne(by.function, -1);
            }
            return bytes;
        }
    }

    /** Receives some bytes with rrecv, see {@link #transfer}. */
    public long receive(MemorySegment data) throws RdmaException {
        return transfer(Transfer.RECV, data, 0);
    }

    /** Sends some bytes with rsend, see {@link #transfer}. */
    public long send(MemorySegment data) throws RdmaException {
        return transfer(Transfer.SEND, data, 0);
    }

    /** Transfers all bytes, and returns how many: fewer if the stream ends before. */
    public long transferAll(Transfer by, MemorySegment data) throws RdmaException {
        boolean receives = by.ordinal() < Transfer.SEND.ordinal();
        long done = 0;
        while (done < data.byteSize()) {
            long bytes = transfer(by, data.asSlice(done), 0);
            if (bytes == 0 && receives) {
                break;
            }
            if (bytes > 0) {
                done += bytes;
            } else {
                await(receives ? Rdma.POLLIN() : Rdma.POLLOUT());
            }
        }
        return done;
    }

    /** Ends sending, receiving or both: SHUT_WR, SHUT_RD or SHUT_RDWR. */
    public void shutdown(int how) throws RdmaException {
        Check.minusOne(RSHUTDOWN, RSHUTDOWN.callInt(fd, how));
    }

    /** Returns which of the events of poll(2) have happened. */
    public int poll(int events) throws RdmaException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment entry = pollfd.allocate(arena);
            pollfd.fd(entry, fd);
            pollfd.events(entry, (short) events);
            Check.minusOne(RPOLL, RPOLL.callInt(entry.address(), 1, 0));
            return pollfd.revents(entry);
        }
    }

    /** Waits until one of the events of poll(2) has happened, and returns all that have. */
    public int await(int events) throws RdmaException {
        long end = System.nanoTime() + TIMEOUT.toNanos();
        while (true) {
            int happened = poll(events);
            if (happened != 0) {
                return happened;
            }
            if (System.nanoTime() - end > 0) {
                throw new AssertionError("none of the events " + events + " has happened in " + TIMEOUT);
            }
            // leaves the processor to the peer
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    /** Returns whether rselect, called with a timeout of 0, finds the socket readable. */
    public boolean isReadableBySelect() throws RdmaException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment set = arena.allocate(Rdma.FD_SETSIZE() / Byte.SIZE, Long.BYTES);
            long word = fd / Long.SIZE;
            set.setAtIndex(ValueLayout.JAVA_LONG, word, 1L << fd % Long.SIZE);
            MemorySegment now = timeval.allocate(arena);
            Check.minusOne(RSELECT, RSELECT.callInt(fd + 1, set.address(), 0, 0, now.address()));
            return set.getAtIndex(ValueLayout.JAVA_LONG, word) != 0;
        }
    }

    /** Returns the local address. */
    public InetSocketAddress localAddress() throws RdmaException {
        return name(RGETSOCKNAME);
    }

    /** Returns the address of the peer. */
    public InetSocketAddress remoteAddress() throws RdmaException {
        return name(RGETPEERNAME);
    }

    private InetSocketAddress name(NativeFunction function) throws RdmaException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocate(sockaddr_storage.layout());
            MemorySegment length = arena.allocateFrom(ValueLayout.JAVA_INT, (int) name.byteSize());
            Check.minusOne(function, function.callInt(fd, name.address(), length.address()));
            return read(name);
        }
    }

    /** Sets an option of type int. */
    public void option(int level, int name, int value) throws RdmaException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocateFrom(ValueLayout.JAVA_INT, value);
            Check.minusOne(RSETSOCKOPT, RSETSOCKOPT.callInt(fd, level, name, memory.address(), Integer.BYTES));
        }
    }

    /** Returns the value of an option of type int. */
    public int option(int level, int name) throws RdmaException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(ValueLayout.JAVA_INT);
            MemorySegment length = arena.allocateFrom(ValueLayout.JAVA_INT, Integer.BYTES);
            Check.minusOne(RGETSOCKOPT, RGETSOCKOPT.callInt(fd, level, name, memory.address(), length.address()));
            return memory.get(ValueLayout.JAVA_INT, 0);
        }
    }

    /** Publishes memory to the peer under an offset; returns the offset. */
    public long map(MemorySegment memory, int protection, long offset) throws RdmaException {
        long mapped = RIOMAP.callLong(fd, memory.address(), memory.byteSize(), protection, 0, offset);
        Check.minusOne(RIOMAP, mapped == -1 ? -1 : 0);
        return mapped;
    }

    /** Withdraws memory. */
    public void unmap(MemorySegment memory) throws RdmaException {
        Check.minusOne(RIOUNMAP, RIOUNMAP.callInt(fd, memory.address(), memory.byteSize()));
    }

    /** Writes to the memory that the peer has published, and returns how many bytes; see {@link #transfer}. */
    public long write(MemorySegment data, long offset) throws RdmaException {
        long bytes = RIOWRITE.callLong(fd, data.address(), data.byteSize(), offset, 0);
        if (bytes == -1) {
            if (Errno.last() == Rdma.EAGAIN()) {
                return WOULD_WAIT;
            }
            Check.minusOne(RIOWRITE, -1);
        }
        return bytes;
    }

    /** Ends the connection, if there is one, and frees the socket. */
    @Override
    public void close() throws RdmaException {
        Check.minusOne(RCLOSE, RCLOSE.callInt(fd));
    }

    private static MemorySegment write(InetSocketAddress address, Arena arena) {
        byte[] bytes = address.getAddress().getAddress();
        boolean ipv6 = address.getAddress() instanceof Inet6Address;
        MemorySegment name = arena.allocate(ipv6 ? sockaddr_in6.layout() : sockaddr_in.layout());
        name.set(ValueLayout.JAVA_SHORT, sockaddr.sa_family$offset(),
                (short) (ipv6 ? Rdma.AF_INET6() : Rdma.AF_INET()));
        // The port is at the same place in both.
        name.set(PORT, sockaddr_in.sin_port$offset(), (short) address.getPort());
        if (address.getAddress() instanceof Inet6Address scoped) {
            sockaddr_in6.sin6_scope_id(name, scoped.getScopeId());
        }
        MemorySegment.copy(bytes, 0, name, ValueLayout.JAVA_BYTE,
                ipv6 ? sockaddr_in6.sin6_addr$offset() : sockaddr_in.sin_addr$offset(), bytes.length);
        return name;
    }

    private static InetSocketAddress read(MemorySegment name) {
        boolean ipv6 = name.get(ValueLayout.JAVA_SHORT, sockaddr.sa_family$offset()) == Rdma.AF_INET6();
        byte[] bytes = name.asSlice(ipv6 ? sockaddr_in6.sin6_addr$offset() : sockaddr_in.sin_addr$offset(),
                ipv6 ? 16 : 4).toArray(ValueLayout.JAVA_BYTE);
        try {
            return new InetSocketAddress(InetAddress.getByAddress(bytes),
                    Short.toUnsignedInt(name.get(PORT, sockaddr_in.sin_port$offset())));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public String toString() {
        return "rsocket " + fd;
    }
}
