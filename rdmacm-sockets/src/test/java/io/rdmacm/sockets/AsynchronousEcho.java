// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.CompletionHandler;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** What tests of asynchronous channels do with two that are connected. */
final class AsynchronousEcho {
    private static final int SIZE = 200_000;

    private AsynchronousEcho() {
    }

    /** Returns what completes a future, which is the attachment. */
    static <T> CompletionHandler<T, CompletableFuture<T>> completing() {
        return new CompletionHandler<>() {
            @Override
            public void completed(T result, CompletableFuture<T> future) {
                future.complete(result);
            }

            @Override
            public void failed(Throwable failure, CompletableFuture<T> future) {
                future.completeExceptionally(failure);
            }
        };
    }

    /** Sends data from one to the other, with handlers and in several buffers at a time, and ends the output. */
    static void exchange(AsynchronousSocketChannel one, AsynchronousSocketChannel other) throws Exception {
        ByteBuffer data = ByteBuffer.allocate(SIZE);
        for (int i = 0; i < SIZE; i++) {
            data.put(i, (byte) (i * 7 + (i >> 9)));
        }
        CompletableFuture<Integer> all = new CompletableFuture<>();
        one.write(data, 4, TimeUnit.MINUTES, SIZE, new CompletionHandler<Integer, Integer>() {
            @Override
            public void completed(Integer length, Integer left) {
                if (length == left) {
                    all.complete(SIZE);
                } else {
                    one.write(data, 4, TimeUnit.MINUTES, left - length, this);
                }
            }

            @Override
            public void failed(Throwable failure, Integer left) {
                all.completeExceptionally(failure);
            }
        });
        ByteBuffer[] received = {ByteBuffer.allocate(1000), ByteBuffer.allocateDirect(SIZE - 1000)};
        while (received[1].hasRemaining()) {
            CompletableFuture<Long> some = new CompletableFuture<>();
            other.read(received, 0, 2, 0, TimeUnit.SECONDS, some, completing());
            assertThat(some.get()).isPositive();
        }
        assertThat(all.get()).isEqualTo(SIZE);
        ByteBuffer back = ByteBuffer.allocate(SIZE).put(received[0].flip()).put(received[1].flip());
        assertThat(back.array()).isEqualTo(data.array());
        assertThat(other.write(ByteBuffer.allocate(3)).get()).isEqualTo(3);
        one.shutdownOutput();
        assertThat(other.read(ByteBuffer.allocate(1)).get()).isEqualTo(-1);
        int length = 0;
        while (length < 3) {
            length += one.read(ByteBuffer.allocate(3)).get();
        }
        assertThat(length).isEqualTo(3);
    }
}
