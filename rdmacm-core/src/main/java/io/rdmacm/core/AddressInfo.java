// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.lang.foreign.Arena;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.rdma_addrinfo;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.Failures;
import io.rdmacm.verbs.internal.ffi.Flags;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.wait.BlockingCall;
import io.rdmacm.verbs.queue.QueuePairType;
import org.jspecify.annotations.Nullable;

/**
 * One way to reach a service, or to offer it ({@code struct rdma_addrinfo}, rdma_getaddrinfo(3)). A copy of the C
 * struct, which need not be closed. Immutable.
 *
 * @param flags the flags of the query
 * @param queuePairType the type of queue pair to use
 * @param portSpace the port space to use
 * @param source the local address; empty to let the kernel choose
 * @param destination the address of the peer; empty with {@link Flag#PASSIVE}
 * @param sourceName the canonical name of the source; empty when it is not known
 * @param destinationName the canonical name of the destination; empty when it is not known
 * @param route {@code struct ibv_path_data} records for {@link CmIdOptions#infinibandPaths}; empty for none
 * @param connectData private data that must be sent with the connect request; empty for none
 */
public record AddressInfo(Set<Flag> flags, QueuePairType queuePairType, PortSpace portSpace,
        Optional<SocketAddress> source, Optional<SocketAddress> destination, Optional<String> sourceName,
        Optional<String> destinationName, byte[] route, byte[] connectData) {
    private static final NativeFunction GETADDRINFO = NativeFunction.of("rdma_getaddrinfo");
    private static final NativeFunction FREEADDRINFO = NativeFunction.of("rdma_freeaddrinfo");
    // Came with the flags SA and DNS. An older librdmacm ignores a flag that it does not know.
    private static final NativeFunction RESOLVE_ADDRINFO = NativeFunction.of("rdma_resolve_addrinfo");
    private static final int MAX_SERVICE_NAME = 63;

    /** The flags of a query ({@code ai_flags}). */
    public enum Flag {
        /** The address is for a listening id. */
        PASSIVE(Rdma.RAI_PASSIVE()),
        /** The node is a numeric address; no name is looked up. */
        NUMERICHOST(Rdma.RAI_NUMERICHOST()),
        /** No route is resolved. */
        NOROUTE(Rdma.RAI_NOROUTE()),
        /** The node is of the address family in the hints. */
        FAMILY(Rdma.RAI_FAMILY()),
        /**
         * The service, a name or a number, is looked up in the subnet administration of an InfiniBand network. There
         * is no node. Since rdma-core 60.
         */
        SA(Rdma.RAI_SA()),
        /** The node and the service are looked up by the C library, as without this flag. Since rdma-core 60. */
        DNS(Rdma.RAI_DNS());

        private final int bit;

        Flag(int bit) {
            this.bit = bit;
        }

        /** {@return the C constant} */
        public int bit() {
            return bit;
        }
    }

    /** An address family ({@code ai_family}). */
    public enum Family {
        /** IPv4. */
        INET(Rdma.AF_INET()),
        /** IPv6. */
        INET6(Rdma.AF_INET6()),
        /**
         * InfiniBand. With {@link Flag#FAMILY} and {@link Flag#NUMERICHOST} the node is a GID in IPv6 notation, and the
         * address is an {@link IbSocketAddress}.
         */
        IB(Rdma.AF_IB());

        private final int value;

        Family(int value) {
            this.value = value;
        }

        /** {@return the C constant} */
        public int value() {
            return value;
        }
    }

    /**
     * Restricts what {@link AddressInfo#resolve} looks for ({@code hints}).
     *
     * @param flags the flags; a client usually needs none
     * @param portSpace the port space, which decides the type of the queue pairs
     * @param source the local address of a client; empty for any
     * @param family the address family, used only with {@link Flag#FAMILY}; empty for any
     */
    public record Hints(Set<Flag> flags, PortSpace portSpace, Optional<SocketAddress> source,
            Optional<Family> family) {
        /**
         * Creates hints for addresses of any family.
         *
         * @param flags the flags; a client usually needs none
         * @param portSpace the port space, which decides the type of the queue pairs
         * @param source the local address of a client; empty for any
         */
        public Hints(Set<Flag> flags, PortSpace portSpace, Optional<SocketAddress> source) {
            this(flags, portSpace, source, Optional.empty());
        }

        /**
         * Returns the hints for a client.
         *
         * @param portSpace the port space of the service
         * @return hints without flags, for any local address
         */
        public static Hints active(PortSpace portSpace) {
            return new Hints(Set.of(), portSpace, Optional.empty());
        }

        /**
         * Returns the hints for a server.
         *
         * @param portSpace the port space of the service
         * @return hints with the flag {@link Flag#PASSIVE}
         */
        public static Hints passive(PortSpace portSpace) {
            return new Hints(Set.of(Flag.PASSIVE), portSpace, Optional.empty());
        }
    }

    /**
     * Resolves a node and a service ({@code rdma_getaddrinfo}). Names are resolved by the C library, so this may wait
     * for name servers, unless {@link Flag#NUMERICHOST} is set. A virtual thread does not keep its carrier meanwhile.
     * No route is looked up for IP addresses.
     *
     * @param node a host name or address; null for any, which needs a service
     * @param service a port number or service name; null for none
     * @param hints what to look for
     * @return at least one result
     * @throws IllegalArgumentException when node and service are both null, or the flag {@link Flag#SA} comes with a
     *         node, with {@link Flag#DNS}, or with the name of a service that is longer than 63 bytes
     * @throws io.rdmacm.verbs.error.NativeLibraryException when the flag {@link Flag#SA} is set and the installed
     *         librdmacm does not know it
     * @throws RdmaException when the node or the service is not known; the message names the EAI error, such as
     *         EAI_NONAME. With {@link Flag#SA} ENOENT when no active InfiniBand port of this machine leads to the
     *         service
     */
    @CFunction({"rdma_getaddrinfo", "rdma_freeaddrinfo"})
    public static List<AddressInfo> resolve(@Nullable String node, @Nullable String service,
            Hints hints) throws RdmaException {
        checkArguments(node, service, hints);
        if (hints.flags().contains(Flag.SA)) {
            RESOLVE_ADDRINFO.require();
        }
        try (Arena arena = Arena.ofConfined()) {
            long hint = write(hints, arena);
            long result = arena.allocate(Long.BYTES, Long.BYTES).address();
            long nodeText = text(node, arena);
            long serviceText = text(service, arena);
            check(BlockingCall.of(() -> GETADDRINFO.callInt(nodeText, serviceText, hint, result)), node, service);
            return take(Memory.getLong(result));
        }
    }

    /** Checks the arguments of a look-up, as far as C does not, or not clearly. */
    static void checkArguments(@Nullable String node, @Nullable String service, Hints hints) {
        if (node == null && service == null) {
            throw new IllegalArgumentException("node and service must not both be null");
        }
        for (String name : new String[] {node, service}) {
            if (name != null && name.indexOf(0) >= 0) {
                throw new IllegalArgumentException("node and service must not contain a NUL character: " + name);
            }
        }
        if (!hints.flags().contains(Flag.SA)) {
            return;
        }
        if (node != null || hints.flags().contains(Flag.DNS)) {
            throw new IllegalArgumentException("the flag SA goes neither with a node nor with the flag DNS: node "
                    + node + ", flags " + hints.flags());
        }
        if (service != null && service.getBytes(StandardCharsets.UTF_8).length > MAX_SERVICE_NAME) {
            throw new IllegalArgumentException("the name of a service must not be longer than " + MAX_SERVICE_NAME
                    + " bytes: " + service);
        }
    }

    /** Returns the address of the C struct of the hints. */
    static long write(Hints hints, Arena arena) {
        long hint = arena.allocate(rdma_addrinfo.layout()).address();
        Memory.putInt(hint + rdma_addrinfo.ai_flags$offset(), Flags.mask(hints.flags(), Flag::bit));
        Memory.putInt(hint + rdma_addrinfo.ai_port_space$offset(), hints.portSpace().value());
        Memory.putInt(hint + rdma_addrinfo.ai_qp_type$offset(), hints.portSpace().queuePairType().value());
        hints.family().ifPresent(family ->
                Memory.putInt(hint + rdma_addrinfo.ai_family$offset(), family.value()));
        if (hints.source().isPresent()) {
            SocketAddresses.Native source = SocketAddresses.allocate(hints.source().get(), arena);
            Memory.putLong(hint + rdma_addrinfo.ai_src_addr$offset(), source.address());
            Memory.putInt(hint + rdma_addrinfo.ai_src_len$offset(), source.length());
        }
        return hint;
    }

    /** Copies a list of C structs and frees it. */
    static List<AddressInfo> take(long first) throws RdmaException {
        try {
            return readAll(first);
        } finally {
            FREEADDRINFO.callInt(first);
        }
    }

    /** Copies the set and the arrays, so that the record is immutable. */
    public AddressInfo {
        flags = Set.copyOf(flags);
        route = route.clone();
        connectData = connectData.clone();
    }

    /** {@return a copy of the route, {@code struct ibv_path_data} records; empty for none} */
    @Override
    public byte[] route() {
        return route.clone();
    }

    /** {@return a copy of the private data that must be sent with the connect request; empty for none} */
    @Override
    public byte[] connectData() {
        return connectData.clone();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof AddressInfo that && flags.equals(that.flags) && queuePairType == that.queuePairType
                && portSpace == that.portSpace && source.equals(that.source) && destination.equals(that.destination)
                && sourceName.equals(that.sourceName) && destinationName.equals(that.destinationName)
                && Arrays.equals(route, that.route) && Arrays.equals(connectData, that.connectData);
    }

    @Override
    public int hashCode() {
        return source.hashCode() * 31 + destination.hashCode();
    }

    @Override
    public String toString() {
        return "AddressInfo[" + portSpace + " " + queuePairType + ", source=" + source.orElse(null) + ", destination="
                + destination.orElse(null) + ", flags=" + flags + ", route=" + HexFormat.of().formatHex(route) + "]";
    }

    /** Returns the address of a C string; 0 for null. */
    static long text(@Nullable String value, Arena arena) {
        return value == null ? 0 : arena.allocateFrom(value).address();
    }

    private static void check(BlockingCall call, @Nullable String node, @Nullable String service) throws RdmaException {
        int result = call.value();
        if (result == 0) {
            return;
        }
        String what = describe(node, service);
        if (result == -1 || result == Rdma.EAI_SYSTEM()) {
            throw Failures.of(GETADDRINFO.name(), call.errno(), what);
        }
        throw failure(GETADDRINFO, what, result);
    }

    static String describe(@Nullable String node, @Nullable String service) {
        return "node " + node + ", service " + service;
    }

    /** Returns the exception for an error of getaddrinfo(3). */
    static RdmaException failure(NativeFunction function, String detail, int error) {
        return new RdmaException(function.name(), function.name() + " (" + detail + "): " + symbol(error));
    }

    private static String symbol(int error) {
        if (error == Rdma.EAI_NONAME()) {
            return "EAI_NONAME, the name or service is not known";
        }
        if (error == Rdma.EAI_AGAIN()) {
            return "EAI_AGAIN, the name server did not answer";
        }
        if (error == Rdma.EAI_FAMILY()) {
            return "EAI_FAMILY, the address family is not supported";
        }
        if (error == Rdma.EAI_SERVICE()) {
            return "EAI_SERVICE, the service is not known for this port space";
        }
        return "getaddrinfo error " + error;
    }

    private static List<AddressInfo> readAll(long first) {
        List<AddressInfo> all = new ArrayList<>();
        for (long info = first; info != 0; info = Memory.getLong(info + rdma_addrinfo.ai_next$offset())) {
            all.add(read(info));
        }
        return List.copyOf(all);
    }

    private static AddressInfo read(long info) {
        int bits = Memory.getInt(info + rdma_addrinfo.ai_flags$offset());
        Set<Flag> flags = Set.of(Arrays.stream(Flag.values()).filter(flag -> (bits & flag.bit()) != 0)
                .toArray(Flag[]::new));
        PortSpace space = PortSpace.of(Memory.getInt(info + rdma_addrinfo.ai_port_space$offset()));
        // services that the subnet administration has found come without one
        int type = Memory.getInt(info + rdma_addrinfo.ai_qp_type$offset());
        return new AddressInfo(flags, type == 0 ? space.queuePairType() : QueuePairType.of(type), space,
                socketAddress(Memory.getLong(info + rdma_addrinfo.ai_src_addr$offset())),
                socketAddress(Memory.getLong(info + rdma_addrinfo.ai_dst_addr$offset())),
                Optional.ofNullable(Memory.string(Memory.getLong(info + rdma_addrinfo.ai_src_canonname$offset()))),
                Optional.ofNullable(Memory.string(Memory.getLong(info + rdma_addrinfo.ai_dst_canonname$offset()))),
                bytes(info + rdma_addrinfo.ai_route$offset(), info + rdma_addrinfo.ai_route_len$offset()),
                bytes(info + rdma_addrinfo.ai_connect$offset(), info + rdma_addrinfo.ai_connect_len$offset()));
    }

    private static Optional<SocketAddress> socketAddress(long address) {
        return address == 0 ? Optional.empty() : Optional.ofNullable(SocketAddresses.readAny(address));
    }

    private static byte[] bytes(long pointer, long length) {
        long data = Memory.getLong(pointer);
        return data == 0 ? new byte[0] : Memory.bytes(data, (int) Memory.getLong(length));
    }
}
