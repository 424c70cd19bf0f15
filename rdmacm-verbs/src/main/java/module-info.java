// SPDX-License-Identifier: Apache-2.0
import org.jspecify.annotations.NullMarked;

/**
 * The objects of libibverbs: devices, protection domains, memory regions, completion queues, queue pairs, and the data
 * path of posting and polling.
 */
@NullMarked
@SuppressWarnings("module") // io.rdmacm.core and io.rdmacm.netty are built after this module
module io.rdmacm.verbs {
    // the annotation CFunction is part of the signatures
    requires transitive io.rdmacm.bindings;
    requires org.slf4j;
    requires static transitive org.jspecify;
    // Without the module, no events are recorded.
    requires static jdk.jfr;

    exports io.rdmacm.verbs;
    exports io.rdmacm.verbs.address;
    exports io.rdmacm.verbs.counter;
    exports io.rdmacm.verbs.device;
    exports io.rdmacm.verbs.efa;
    exports io.rdmacm.verbs.error;
    exports io.rdmacm.verbs.flow;
    exports io.rdmacm.verbs.memory;
    exports io.rdmacm.verbs.metrics;
    exports io.rdmacm.verbs.mlx5;
    exports io.rdmacm.verbs.pool;
    exports io.rdmacm.verbs.queue;
    exports io.rdmacm.verbs.work;

    // The objects of librdmacm are made of the same parts. These packages take and return addresses.
    exports io.rdmacm.verbs.internal.access to
            io.rdmacm.core;
    exports io.rdmacm.verbs.internal.codec to
            io.rdmacm.core;
    exports io.rdmacm.verbs.internal.ffi to
            io.rdmacm.core;
    exports io.rdmacm.verbs.internal.jfr to
            io.rdmacm.core;
    exports io.rdmacm.verbs.internal.life to
            io.rdmacm.core;
    exports io.rdmacm.verbs.internal.wait to
            io.rdmacm.core,
            io.rdmacm.netty;
}
