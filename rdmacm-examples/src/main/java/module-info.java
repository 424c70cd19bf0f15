// SPDX-License-Identifier: Apache-2.0

/** The programs of librdmacm and libibverbs in Java. */
@SuppressWarnings("requires-automatic")
open module io.rdmacm.examples {
    requires info.picocli;
    requires io.rdmacm.core;
    requires io.rdmacm.netty;
    requires io.grpc;
    requires io.grpc.netty;
    requires io.grpc.stub;
    requires io.netty.codec.http;
    requires io.netty.transport.classes.epoll;
    requires jdk.net;

    exports io.rdmacm.examples;
}
