// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.util.function.LongConsumer;
import java.util.function.Supplier;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.access.Addressing;
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
            QueueCreator creator, Lifetime.Freer freer) throws RdmaException {
        return QueuePairFactory.create(domain, attributes, creator, freer, owner);
    }

    @Override
    public QueuePair createQueuePair(ProtectionDomain domain, QueuePairInitAttributes attributes,
            Addressing addressing, QueueCreator creator) throws RdmaException {
        return QueuePairFactory.create(domain, attributes, addressing, creator);
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
    public DeviceMemory allocateDeviceMemory(VerbsContext context, long bytes, int logAlignment,
            QueueCreator creator) throws RdmaException {
        return DeviceMemory.allocate(context, bytes, logAlignment, creator);
    }

    @Override
    public void request(SendBatch batch, int flags, Runnable functions) {
        batch.driverRequest(flags, functions);
    }

    @Override
    public long betweenBatches(QueuePair pair, QueueFunction function) throws RdmaException {
        return pair.betweenBatches(function);
    }

    @Override
    public void target(SendBatch batch, AddressHandle handle, LongConsumer function) {
        batch.driverTarget(handle, function);
    }

    @Override
    public void data(SendBatch batch, int key, long address, int length) {
        batch.driverData(key, address, length);
    }

    @Override
    public SharedReceiveQueue createSharedReceiveQueue(Lifetime owner, ProtectionDomain domain,
            SharedReceiveQueueInitAttributes attributes, QueueCreator creator, Lifetime.Freer freer)
            throws RdmaException {
        return SharedReceiveQueue.create(domain, attributes, creator, freer, owner);
    }

    @Override
    public MemoryRegion register(ProtectionDomain domain, RegionSource source, AccessFlag... access)
            throws RdmaException {
        return MemoryRegionFactory.of(domain, access).register(source);
    }
}
