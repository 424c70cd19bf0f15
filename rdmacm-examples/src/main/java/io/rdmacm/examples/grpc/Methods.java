// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.grpc;

import java.nio.charset.StandardCharsets;
import java.util.function.Function;

import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;

/** The methods of the service, one of each kind. A code generator would write this class. */
final class Methods {
    static final String SERVICE = "io.rdmacm.examples.Greeter";

    private static final Encoding<String> TEXT = new Encoding<>(text -> text.getBytes(StandardCharsets.UTF_8),
            bytes -> new String(bytes, StandardCharsets.UTF_8));
    private static final Encoding<byte[]> BYTES = new Encoding<>(Function.identity(), Function.identity());
    private static final Encoding<Amount> AMOUNT = new Encoding<>(Amount::encoded, Amount::decoded);

    /** Answers a name with a greeting. */
    static final MethodDescriptor<String, String> HELLO = method("Hello", MethodType.UNARY, TEXT, TEXT);
    /** Answers with so many messages. */
    static final MethodDescriptor<Amount, byte[]> DOWNLOAD = method("Download", MethodType.SERVER_STREAMING, AMOUNT,
            BYTES);
    /** Answers with the tally of the messages that it got. */
    static final MethodDescriptor<byte[], String> UPLOAD = method("Upload", MethodType.CLIENT_STREAMING, BYTES, TEXT);
    /** Answers each message with the same bytes. */
    static final MethodDescriptor<byte[], byte[]> ECHO = method("Echo", MethodType.BIDI_STREAMING, BYTES, BYTES);

    private Methods() {
    }

    private static <Q, A> MethodDescriptor<Q, A> method(String name, MethodType type, Encoding<Q> request,
            Encoding<A> answer) {
        return MethodDescriptor.newBuilder(request, answer).setType(type)
                .setFullMethodName(MethodDescriptor.generateFullMethodName(SERVICE, name)).build();
    }
}
