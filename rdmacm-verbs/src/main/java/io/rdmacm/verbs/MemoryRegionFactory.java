// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_mr;
import io.rdmacm.verbs.device.DeviceAttributesEx;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.driver.ExtendedOps;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Errno;
import io.rdmacm.verbs.internal.ffi.Failures;
import io.rdmacm.verbs.internal.ffi.Flags;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.ffi.NativeMemory;
import io.rdmacm.verbs.internal.jfr.RegistrationEvents;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.work.AccessFlag;
import org.jspecify.annotations.Nullable;

/** Creates memory regions in all the ways that {@link ProtectionDomain} offers. */
final class MemoryRegionFactory {
    private static final NativeFunction REG_MR = NativeFunction.of("ibv_reg_mr");
    private static final NativeFunction REG_MR_IOVA = NativeFunction.of("ibv_reg_mr_iova");
    private static final NativeFunction REG_MR_IOVA2 = NativeFunction.of("ibv_reg_mr_iova2");
    private static final NativeFunction REG_DMABUF_MR = NativeFunction.of("ibv_reg_dmabuf_mr");
    private static final NativeFunction IMPORT_MR = NativeFunction.of("ibv_import_mr");
    // SIZE_MAX of size_t, the length that makes a region an implicit one
    private static final long SIZE_MAX = -1;

    private final ProtectionDomain domain;
    private final Set<AccessFlag> access;
    private final int flags;

    private MemoryRegionFactory(ProtectionDomain domain, Set<AccessFlag> access) {
        this.domain = domain;
        this.access = access;
        this.flags = Flags.mask(access, AccessFlag::bit);
    }

    /**
     * Returns a factory for regions with the given access flags.
     *
     * @throws IllegalArgumentException if the flags need {@link AccessFlag#LOCAL_WRITE} and lack it
     */
    static MemoryRegionFactory of(ProtectionDomain domain, AccessFlag... access) {
        domain.life().ensureOpen();
        return new MemoryRegionFactory(domain, checkAccess(Set.copyOf(Arrays.asList(access))));
    }

    /** As {@link #of}, with {@link AccessFlag#ON_DEMAND} added. */
    static MemoryRegionFactory onDemand(ProtectionDomain domain, AccessFlag... access) {
        AccessFlag[] all = Arrays.copyOf(access, access.length + 1);
        all[access.length] = AccessFlag.ON_DEMAND;
        return of(domain, all);
    }

    static Set<AccessFlag> checkAccess(Set<AccessFlag> access) {
        boolean writes = access.contains(AccessFlag.REMOTE_WRITE) || access.contains(AccessFlag.REMOTE_ATOMIC);
        if (writes && !access.contains(AccessFlag.LOCAL_WRITE)) {
            throw new IllegalArgumentException("REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE too: " + access);
        }
        return access;
    }

    /** Rejects memory that cannot be registered with the given access flags. */
    static MemorySegment checkMemory(MemorySegment memory, Set<AccessFlag> access) {
        Objects.requireNonNull(memory, "memory");
        if (!memory.isNative()) {
            throw new IllegalArgumentException("memory of the Java heap cannot be registered, because the garbage"
                    + " collector moves it: use an Arena, or ProtectionDomain.allocate");
        }
        requireBytes(memory.byteSize(), "the segment is empty");
        if (!memory.scope().isAlive()) {
            throw new IllegalArgumentException("the arena of the segment is closed");
        }
        boolean written = access.contains(AccessFlag.LOCAL_WRITE) || access.contains(AccessFlag.MW_BIND);
        if (memory.isReadOnly() && written) {
            throw new IllegalArgumentException("the segment is read-only, but the access flags allow writing to it: "
                    + access);
        }
        return memory;
    }

    MemoryRegion allocate(long bytes) throws RdmaException {
        requireBytes(bytes, "not " + bytes);
        Arena arena = Arena.ofShared();
        MemorySegment memory;
        try {
            memory = NativeMemory.allocatePages("ibv_reg_mr", arena, bytes);
        } catch (Throwable t) {
            arena.close();
            throw t;
        }
        return register(memory, arena);
    }

    MemoryRegion register(MemorySegment memory) throws RdmaException {
        return register(checkMemory(memory, access), (Arena) null);
    }

    MemoryRegion registerAt(MemorySegment memory, long start) throws RdmaException {
        checkMemory(memory, access);
        return registerAt(memory, start, null);
    }

    private MemoryRegion register(MemorySegment memory, @Nullable Arena owned) throws RdmaException {
        if (access.contains(AccessFlag.ZERO_BASED)) {
            // Many drivers support the flag for memory windows only; registering at address 0 works with all of them.
            return registerAt(memory, 0, owned);
        }
        String detail = memory.byteSize() + " bytes";
        long first = memory.address();
        long bytes = memory.byteSize();
        // Like the macro in verbs.h: flags that an old kernel may ignore go through the newer function.
        return make(owned, memory, first, bytes, arena -> registerNative(first, bytes, detail));
    }

    private long registerNative(long first, long bytes, String detail) throws RdmaException {
        return isOptional()
                ? registered(REG_MR_IOVA2, REG_MR_IOVA2.callLong(pd(), first, bytes, first, flags), bytes, detail)
                : registered(REG_MR, REG_MR.callLong(pd(), first, bytes, flags), bytes, detail);
    }

    /**
     * Checks the result of a registration. The kernel rejects on-demand paging with a bare EINVAL, SoftRoCE of Linux
     * 6.12 with EOPNOTSUPP; the attributes of the device tell whether lack of support is the reason.
     */
    private long registered(NativeFunction function, long result, long bytes, String detail) throws RdmaException {
        int error = Errno.last();
        boolean refused = result == 0 && (error == Rdma.EINVAL() || error == Rdma.EOPNOTSUPP());
        if (refused && access.contains(AccessFlag.ON_DEMAND)) {
            boolean implicit = bytes == SIZE_MAX;
            DeviceAttributesEx.OnDemandPaging paging = domain.context().queryDeviceEx().onDemandPaging();
            if (!(implicit ? paging.implicit() : paging.supported())) {
                throw new RdmaUnsupportedException(function.name(), error, Errno.name(error),
                        Failures.message(function.name(), error, detail + ", but the device has no "
                                + (implicit ? "implicit " : "") + "on-demand paging"));
            }
            throw Failures.of(function.name(), error, detail);
        }
        return Check.pointer(function, detail, result);
    }

    ImplicitMemoryRegion registerAllMemory() throws RdmaException {
        if (access.contains(AccessFlag.ZERO_BASED) || access.contains(AccessFlag.HUGETLB)) {
            throw new IllegalArgumentException("ZERO_BASED and HUGETLB are not possible for a region that spans all"
                    + " memory: " + access);
        }
        Object event = RegistrationEvents.begin();
        return Lifetime.make(ImplicitMemoryRegion.class, List.of(domain.life()),
                arena -> registerNative(0, SIZE_MAX, "all memory, on demand"), MemoryRegion.Origin.REGISTERED::free,
                (life, region) -> {
                    RegistrationEvents.end(event, 0, Long.MAX_VALUE, access);
                    return new ImplicitMemoryRegion(domain, access, life, region);
                });
    }

    static MemoryRegion part(ImplicitMemoryRegion whole, ProtectionDomain domain, MemorySegment memory,
            Set<AccessFlag> access) {
        try {
            return make(MemoryRegion.Origin.PART, List.of(whole.life()), MemoryRegion.Backing.of(null, memory),
                    region -> Registration.of(region, domain, memory, access, memory.address(), memory.byteSize()),
                    arena -> whole.address());
        } catch (RdmaException e) {
            throw new AssertionError("C is not called", e);
        }
    }

    private MemoryRegion registerAt(MemorySegment memory, long start, @Nullable Arena owned) throws RdmaException {
        NativeFunction function = isOptional() ? REG_MR_IOVA2 : REG_MR_IOVA;
        // The start says all that ZERO_BASED would; SoftRoCE of newer kernels refuses the flag for regions.
        int plain = flags & ~AccessFlag.ZERO_BASED.bit();
        long bytes = memory.byteSize();
        String detail = bytes + " bytes at 0x" + Long.toHexString(start);
        return make(owned, memory, start, bytes, arena -> registered(function,
                function.callLong(pd(), memory.address(), bytes, start, plain), bytes, detail));
    }

    MemoryRegion registerDmaBuf(int fd, long offset, long length, long start) throws RdmaException {
        requireBytes(length, "not " + length);
        if (fd < 0) {
            throw new IllegalArgumentException("the file descriptor must not be negative: " + fd);
        }
        if (offset < 0) {
            throw new IllegalArgumentException("the offset must not be negative: " + offset);
        }
        String detail = length + " bytes of file descriptor " + fd;
        return make(null, null, start, length, arena -> Check.pointer(REG_DMABUF_MR, detail,
                REG_DMABUF_MR.callLong(pd(), offset, length, start, fd, flags)));
    }

    MemoryRegion registerDeviceMemory(DeviceMemory memory, long offset, long length) throws RdmaException {
        requireBytes(length, "not " + length);
        memory.checkRange(offset, length);
        if (!access.contains(AccessFlag.ZERO_BASED)) {
            throw new IllegalArgumentException("a region of device memory needs ZERO_BASED among its access flags: "
                    + access);
        }
        domain.requireSameContext("device memory", memory.context());
        return make(null, null, 0, length, arena -> {
            NativeFunction function = ExtendedOps.REG_DM_MR.require(domain.context().address());
            return Check.pointer(function, length + " bytes",
                    function.callLong(pd(), memory.address(), offset, length, flags));
        }, memory.life());
    }

    /** Registers memory with another function than those of this class, see {@link VerbsAccess}. */
    MemoryRegion register(VerbsAccess.RegionSource source) throws RdmaException {
        if (source.memory() != null) {
            checkMemory(source.memory(), access);
        }
        requireBytes(source.length(), "not " + source.length());
        return make(null, source.memory(), source.start(), source.length(),
                arena -> registered(source.function(), source.creator().create(flags), source.length(),
                        source.detail()), source.owners().toArray(Lifetime[]::new));
    }

    MemoryRegion allocateNull() throws RdmaException {
        return make(null, null, 0, Long.MAX_VALUE, arena -> {
            NativeFunction function = ExtendedOps.ALLOC_NULL_MR.require(domain.context().address());
            return Check.pointer(function, function.callLong(pd()));
        });
    }

    static MemoryRegion importRegion(ProtectionDomain domain, int kernelHandle) throws RdmaException {
        // Only the process that registered it knows the addresses; if the driver reports any, they are that process's.
        return make(MemoryRegion.Origin.IMPORTED, List.of(domain.life()), MemoryRegion.Backing.of(null, null),
                region -> Registration.of(region, domain, null, Set.of(), Memory.getLong(region + ibv_mr.addr$offset()),
                        Memory.getLong(region + ibv_mr.length$offset())),
                arena -> Check.imported(IMPORT_MR, domain.address(), kernelHandle));
    }

    @FunctionalInterface
    private interface Describer {
        Registration describe(long region);
    }

    private MemoryRegion make(@Nullable Arena owned, @Nullable MemorySegment memory, long start, long length,
            Lifetime.Creator creator, Lifetime... others) throws RdmaException {
        List<Lifetime> parents = new ArrayList<>(List.of(others));
        parents.addFirst(domain.life());
        Object event = RegistrationEvents.begin();
        return make(MemoryRegion.Origin.REGISTERED, parents, MemoryRegion.Backing.of(owned, memory), region -> {
            RegistrationEvents.end(event, start, length, access);
            return Registration.of(region, domain, memory, access, start, length);
        }, creator);
    }

    private static MemoryRegion make(MemoryRegion.Origin origin, List<Lifetime> parents, MemoryRegion.Backing backing,
            Describer describer, Lifetime.Creator creator) throws RdmaException {
        return Lifetime.make(MemoryRegion.class, parents, creator, origin::free,
                (life, region) -> new MemoryRegion(life, region, describer.describe(region), backing, origin), backing);
    }

    private long pd() {
        return domain.address();
    }

    private boolean isOptional() {
        return (flags & Rdma.IBV_ACCESS_OPTIONAL_RANGE()) != 0;
    }

    private static void requireBytes(long bytes, String but) {
        if (bytes < 1) {
            throw new IllegalArgumentException("a memory region needs at least 1 byte: " + but);
        }
    }
}
