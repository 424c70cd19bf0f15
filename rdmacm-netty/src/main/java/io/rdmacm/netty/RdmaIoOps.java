// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import io.netty.channel.IoOps;

/** What a link asks of an {@link RdmaIoHandler}. */
enum RdmaIoOps implements IoOps {
    /** To poll the channel. */
    LOOK,
    /** To watch the file of the channel. */
    WATCH,
    /** Not to watch the file of the channel. */
    IGNORE
}
