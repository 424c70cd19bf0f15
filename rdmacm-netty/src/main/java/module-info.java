// SPDX-License-Identifier: Apache-2.0
import org.jspecify.annotations.NullMarked;

/** A transport for Netty 4.2: channels over the streams of {@link io.rdmacm.core.stream}. */
@NullMarked
module io.rdmacm.netty {
    requires transitive io.rdmacm.core;
    requires transitive io.netty.buffer;
    requires transitive io.netty.common;
    requires transitive io.netty.transport;
    requires io.netty.transport.classes.epoll;
    requires io.netty.transport.unix.common;
    requires org.slf4j;
    requires static transitive org.jspecify;

    exports io.rdmacm.netty;
}
