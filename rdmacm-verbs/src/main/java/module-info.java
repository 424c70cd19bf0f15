// SPDX-License-Identifier: Apache-2.0

/**
 * The objects of libibverbs: devices, protection domains, memory regions, completion queues, queue pairs, and the data
 * path of posting and polling.
 */
@SuppressWarnings("module") // io.rdmacm.core is built after this module
module io.rdmacm.verbs {
    requires transitive io.rdmacm.bindings;
    requires org.slf4j;

    exports io.rdmacm.verbs;
    exports io.rdmacm.verbs.flow;
    exports io.rdmacm.verbs.internal to
            io.rdmacm.core;
}
