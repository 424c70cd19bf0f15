// SPDX-License-Identifier: Apache-2.0

/** The programs of librdmacm and libibverbs in Java. */
@SuppressWarnings("requires-automatic")
open module io.rdmacm.examples {
    requires info.picocli;
    requires io.rdmacm.core;
    requires jdk.net;

    exports io.rdmacm.examples;
}
