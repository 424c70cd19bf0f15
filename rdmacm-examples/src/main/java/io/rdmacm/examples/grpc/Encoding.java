// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.grpc;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.function.Function;

import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.Status;

/**
 * Turns messages into bytes and back.
 *
 * @param encode to bytes
 * @param decode from bytes; throws a RuntimeException if they are malformed
 * @param <T> the messages
 */
record Encoding<T>(Function<T, byte[]> encode, Function<byte[], T> decode) implements Marshaller<T> {
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
