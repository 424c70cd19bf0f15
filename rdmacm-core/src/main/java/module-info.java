// SPDX-License-Identifier: Apache-2.0

/** The objects of librdmacm: event channels, connection-manager ids and their events. */
module io.rdmacm.core {
    requires transitive io.rdmacm.verbs;
    requires org.slf4j;

    exports io.rdmacm.core;
    exports io.rdmacm.core.connection;
}
