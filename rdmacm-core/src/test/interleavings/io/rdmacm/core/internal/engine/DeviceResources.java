// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.engine;

import io.rdmacm.verbs.pool.RegisteredPool;
import io.rdmacm.verbs.pool.RegisteredSlice;

/** Stands in for the class of this name, in plain Java: a pool for messages of one size. */
public final class DeviceResources {
    private final RegisteredPool pool;

    /** Creates the pool. */
    public DeviceResources(int messageSize) {
        pool = new RegisteredPool(messageSize);
    }

    /** Returns the pool. */
    public RegisteredPool pool(int messageSize) {
        return pool;
    }

    /** Does nothing. */
    public void lend(RegisteredSlice slice) {
    }

    /** Gives a slice back that was lent. */
    public void reclaim(RegisteredSlice slice) {
        slice.close();
    }
}
