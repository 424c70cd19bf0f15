// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.util.function.Supplier;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.life.ContextPin;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.work.AccessFlag;
import org.jspecify.annotations.Nullable;

/** The implementation of {@link VerbsAccess}, which loads this class by name. */
final class VerbsAccessor extends VerbsAccess {
    static {
        register(new VerbsAccessor());
    }

    private VerbsAccessor() {
    }

    @Override
    public Lifetime lifeOf(NativeObject object) {
        return object.life();
    }

    @Override
    public SendBatch useDirectly(QueuePair pair, Class<?> user) throws RdmaException {
        return pair.useDirectly(user.getSimpleName());
    }

    @Override
    public void start(SendBatch batch) {
        batch.start();
    }

    @Override
    public boolean isReadOnlyForDevice(MemoryRegion region) {
        return region.isReadOnlyForDevice();
    }

    @Override
    public long addressOf(NativeObject object) {
        return object.address();
    }

    @Override
    public @Nullable CompletionQueue takeEvent(CompletionChannel channel) throws RdmaException {
        return channel.takeEvent();
    }

    @Override
    public VerbsContext contextAt(long address, Supplier<ContextPin> pin) {
        return VerbsContext.ofConnectionManager(address, pin);
    }

    @Override
    public boolean losesLateRequests(VerbsContext context) {
        return context.isSoftIwarp();
    }

    @Override
    public int deviceIndexAt(long address) {
        return VerbsContext.indexAt(address);
    }

    @Override
    public QueuePair createQueuePair(Lifetime owner, ProtectionDomain domain, QueuePairInitAttributes attributes,
            Creator creator, Lifetime.Freer freer) throws RdmaException {
        return QueuePairFactory.create(domain, attributes, creator, freer, owner);
    }

    @Override
    public long withDevice(Device device, DeviceFunction function) throws RdmaException {
        return device.call(function);
    }

    @Override
    public VerbsContext open(Device device, DeviceFunction opener) throws RdmaException {
        return device.open(opener);
    }

    @Override
    public SharedReceiveQueue createSharedReceiveQueue(Lifetime owner, ProtectionDomain domain,
            SharedReceiveQueueInitAttributes attributes, Creator creator, Lifetime.Freer freer)
            throws RdmaException {
        return SharedReceiveQueue.create(domain, attributes, creator, freer, owner);
    }

    @Override
    public MemoryRegion register(ProtectionDomain domain, RegionSource source, AccessFlag... access)
            throws RdmaException {
        return MemoryRegionFactory.of(domain, access).register(source);
    }
}
