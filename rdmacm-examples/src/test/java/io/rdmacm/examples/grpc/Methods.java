// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.grpc;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.function.Function;

import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Status;

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

    /**
     * Turns messages into bytes and back.
     *
     * @param encode to bytes
     * @param decode from bytes; throws a RuntimeException if they are malformed
     * @param <T> the messages
     */
    private record Encoding<T>(Function<T, byte[]> encode, Function<byte[], T> decode) implements Marshaller<T> {
        @Override
        public InputStream stream(T message) {
            return new ByteArrayInputStream(encode.apply(message));
        }

        @Override
        public T parse(InputStream stream) {
            try {
                return decode.apply(stream.readAllBytes());
            } catch (IOException | RuntimeException e) {
                throw Status.INVALID_ARGUMENT.withDescription("a malformed message").withCause(e).asRuntimeException();
            }
        }
    }
}
