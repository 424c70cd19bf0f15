// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import io.netty.channel.IoHandle;

/** What an {@link RdmaIoHandler} drives. */
interface RdmaIoHandle extends IoHandle {
    /** Returns the channel that it is for. */
    LoopChannel channel();

    @Override
    void close();
}
