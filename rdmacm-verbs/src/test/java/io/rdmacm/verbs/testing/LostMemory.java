// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.util.Objects;

import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.life.Lifetime;

/** Registered memory that a program has lost, together with the region, its domain and its context. */
public final class LostMemory {
    private final Lost memory;
    private final WeakReference<Lifetime> context;

    private LostMemory(MemorySegment memory, VerbsContext context) {
        this.memory = new Lost(memory);
        this.context = new WeakReference<>(VerbsAccess.get().lifeOf(context));
    }

    /** Registers memory, of which the caller keeps nothing either. */
    @FunctionalInterface
    public interface Registrar {
        /** Returns the region. */
        MemoryRegion register(ProtectionDomain domain) throws RdmaException;
    }

    /** Registers memory and loses it. */
    public static LostMemory of(Registrar registrar) throws RdmaException {
        VerbsContext context = Device.list().getFirst().open();
        return of(registrar.register(context.allocateProtectionDomain()).memory(), context);
    }

    /** Loses memory that is registered already. The caller keeps neither it nor the context. */
    public static LostMemory of(MemorySegment memory, VerbsContext context) {
        return new LostMemory(memory, context);
    }

    /** Checks that the memory stays until it is deregistered, and no longer. */
    public void assertKeptUntilDeregistered() throws RdmaException {
        assertThat(memory.isKept()).describedAs("the device may still write it").isTrue();
        close(Objects.requireNonNull(context.get()));
        memory.awaitCollected();
    }

    private static void close(Lifetime life) throws RdmaException {
        for (Lifetime child : life.children()) {
            close(child);
        }
        life.close(() -> { }, life::free);
    }
}
