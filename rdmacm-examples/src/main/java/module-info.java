// SPDX-License-Identifier: Apache-2.0

/** The programs of librdmacm and libibverbs in Java. */
@SuppressWarnings("requires-automatic")
module io.rdmacm.examples {
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

    opens io.rdmacm.examples to
            info.picocli;
    opens io.rdmacm.examples.support to
            info.picocli;
    opens io.rdmacm.examples.cm to
            info.picocli;
    opens io.rdmacm.examples.echo to
            info.picocli;
    opens io.rdmacm.examples.grpc to
            info.picocli;
    opens io.rdmacm.examples.kvstore to
            info.picocli;
    opens io.rdmacm.examples.netty to
            info.picocli;
    opens io.rdmacm.examples.rping to
            info.picocli;
    opens io.rdmacm.examples.stream to
            info.picocli;
    opens io.rdmacm.examples.verbs to
            info.picocli;
}
