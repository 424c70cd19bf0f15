// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.util.List;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.ibv_ah;
import io.rdmacm.bindings.ibv_ah_attr;
import io.rdmacm.bindings.ibv_grh;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.codec.AddressStructs;
import io.rdmacm.verbs.internal.ffi.Arguments;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.Lifetime;

/**
 * A destination for datagrams ({@code struct ibv_ah}, ibv_create_ah(3)).
 *
 * <p>Close it only when the requests that name it have completed, as ibv_post_send(3) demands: some drivers, SoftRoCE
 * among them, read it only when they send, and a request whose address handle is gone completes with an error. Closing
 * it earlier does no other harm: a close waits for posts that are still running.
 */
public final class AddressHandle extends NativeObject {
    private static final NativeFunction CREATE_AH = NativeFunction.of("ibv_create_ah");
    private static final NativeFunction CREATE_AH_FROM_WC = NativeFunction.of("ibv_create_ah_from_wc");
    private static final NativeFunction INIT_AH_FROM_WC = NativeFunction.of("ibv_init_ah_from_wc");
    private static final NativeFunction DESTROY_AH = NativeFunction.of("ibv_destroy_ah");

    private final ProtectionDomain domain;

    private AddressHandle(ProtectionDomain domain, Lifetime life, long address) {
        super(life, address, ibv_ah.sizeof());
        this.domain = domain;
    }

    static AddressHandle create(ProtectionDomain domain, AddressAttributes attributes) throws RdmaException {
        return make(domain, arena -> {
            long struct = arena.allocate(ibv_ah_attr.layout()).address();
            AddressStructs.write(attributes, struct);
            return Check.pointer(CREATE_AH, attributes.toString(), CREATE_AH.callLong(domain.address(), struct));
        });
    }

    static AddressHandle create(ProtectionDomain domain, WorkCompletions received, MemorySegment header, int port)
            throws RdmaException {
        try (Arena arena = Arena.ofConfined()) {
            long completion = received.datagram();
            long copy = copyHeader(header, arena);
            Arguments.requirePort(port);
            return make(domain, ignored -> Check.pointer(CREATE_AH_FROM_WC, "port " + port,
                    CREATE_AH_FROM_WC.callLong(domain.address(), completion, copy, port)));
        } finally {
            Reference.reachabilityFence(received);
        }
    }

    static AddressAttributes attributes(VerbsContext context, WorkCompletions received, MemorySegment header, int port)
            throws RdmaException {
        try (Arena arena = Arena.ofConfined()) {
            long completion = received.datagram();
            long copy = copyHeader(header, arena);
            Arguments.requirePort(port);
            long struct = arena.allocate(ibv_ah_attr.layout()).address();
            Check.returned(INIT_AH_FROM_WC,
                    INIT_AH_FROM_WC.callInt(context.address(), port, completion, copy, struct));
            return AddressStructs.read(struct);
        } finally {
            Reference.reachabilityFence(received);
        }
    }

    private static AddressHandle make(ProtectionDomain domain, Lifetime.Creator creator) throws RdmaException {
        return Lifetime.make(AddressHandle.class, List.of(domain.life()), creator, DESTROY_AH::free,
                (life, address) -> new AddressHandle(domain, life, address));
    }

    /** Copies the header, so that C never sees memory that could be freed meanwhile. */
    private static long copyHeader(MemorySegment header, Arena arena) {
        long bytes = ibv_grh.sizeof();
        if (header.byteSize() < bytes) {
            throw new IllegalArgumentException("a global route header has " + bytes + " bytes, not "
                    + header.byteSize());
        }
        MemorySegment copy = arena.allocate(ibv_grh.layout());
        MemorySegment.copy(header, ValueLayout.JAVA_BYTE, 0, copy, ValueLayout.JAVA_BYTE, 0, bytes);
        return copy.address();
    }

    /**
     * Returns the protection domain of this address handle. Only queue pairs of the same protection domain, or of a
     * parent domain of it, can send to it.
     *
     * @return the protection domain in which it was created
     */
    public ProtectionDomain protectionDomain() {
        life().ensureOpen();
        return domain;
    }

    /** Checks what could otherwise crash a driver. Called with the lock of a send queue of the domain held. */
    void requireUsable(ProtectionDomain sender) {
        if (!domain.sharesPosts(sender)) {
            throw new IllegalArgumentException("the address handle belongs to another protection domain than the queue"
                    + " pair: " + domain + ", " + sender);
        }
        life().ensureOpen();
    }

    @Override
    @CFunction("ibv_destroy_ah")
    protected void destroy() throws RdmaException {
        // Running posts read the struct, so they must end before it is freed. Later ones see that it is closed.
        domain.posts().await();
        super.destroy();
    }
}
