// SPDX-License-Identifier: Apache-2.0
import org.jspecify.annotations.NullMarked;

/**
 * The Java counterpart of librdmacm: connection-manager ids, event channels and endpoints in {@link io.rdmacm.core},
 * connections that carry messages in {@link io.rdmacm.core.connection}, streams of bytes, with the protocol of
 * rsockets, in {@link io.rdmacm.core.stream}, and channels of {@link java.nio.channels} over these in
 * {@link io.rdmacm.core.nio}.
 */
@NullMarked
@SuppressWarnings("module") // io.rdmacm.netty is built after this module
module io.rdmacm.core {
    requires transitive io.rdmacm.verbs;
    // an ObjectName is returned
    requires transitive java.management;
    requires jdk.net;
    requires org.slf4j;
    requires static transitive org.jspecify;
    // Without the module, no events are recorded.
    requires static jdk.jfr;

    exports io.rdmacm.core;
    exports io.rdmacm.core.connection;
    // Streams that share their queues.
    exports io.rdmacm.core.internal.access to io.rdmacm.netty;
    // The exceptions and options of sockets, which both kinds of channels have.
    exports io.rdmacm.core.internal.sockets to io.rdmacm.netty;
    exports io.rdmacm.core.nio;
    exports io.rdmacm.core.stream;
}
