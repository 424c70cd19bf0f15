// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_long;

import java.io.IOException;
import java.lang.classfile.CodeBuilder;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.LongBinaryOperator;

import org.slf4j.event.Level;
import sun.nio.ch.Util;

/**
 * Lets the file channels of the JDK leave transfers to our channels. By themselves, they use sendfile(2) for sockets of
 * the JDK only. Channels of others can choose between pieces of 8 KiB, and a map of up to 8 MiB that is made for each
 * call, whose page faults can take longer than all else.
 */
final class FileTransfers {
    // As much as a message of a stream carries.
    private static final int PIECE = 1 << 16;

    private static final ClassDesc CHANNEL = BiFunction.class.describeConstable().orElseThrow();
    private static final ClassDesc TRANSFER = LongBinaryOperator.class.describeConstable().orElseThrow();

    private FileTransfers() {
    }

    /** What our channels are to a file channel, which knows types of the JDK only: they give what transfers. */
    interface Channel extends BiFunction<FileChannel, String, LongBinaryOperator> {
        /** Sends a part of a file; returns how much. */
        long send(FileChannel file, long position, long count) throws IOException;

        /** Receives a part of a file; returns how much. */
        long receive(FileChannel file, long position, long count) throws IOException;

        @Override
        default LongBinaryOperator apply(FileChannel file, String method) {
            boolean sends = method.equals(Method.TO.caller);
            return (position, count) -> {
                try {
                    return sends ? send(file, position, count) : receive(file, position, count);
                } catch (IOException e) {
                    // The file channel throws it on.
                    throw FileTransfers.<RuntimeException>unchecked(e);
                }
            };
        }
    }

    @SuppressWarnings("unchecked") // it is thrown, not cast
    private static <E extends Throwable> E unchecked(IOException failure) throws E {
        throw (E) failure;
    }

    /** The methods of the JDK's file channel for channels that are neither sockets of the JDK nor files. */
    private enum Method {
        TO("transferTo", "transferToTrustedChannel", 5, 1, 3),
        FROM("transferFrom", "transferFromArbitraryChannel", 1, 2, 4);

        private final String caller;
        private final String name;
        // The numbers of its local variables.
        private final int channel;
        private final int position;
        private final int count;

        Method(String caller, String name, int channel, int position, int count) {
            this.caller = caller;
            this.name = name;
            this.channel = channel;
            this.position = position;
            this.count = count;
        }

        /** If the channel is one of ours, what it says. */
        private void begin(CodeBuilder code) {
            code.aload(channel).instanceOf(CHANNEL).ifThen(then -> then
                    .aload(channel).checkcast(CHANNEL).aload(0).loadConstant(caller)
                    .invokeinterface(CHANNEL, "apply", MethodTypeDesc.of(CD_Object, CD_Object, CD_Object))
                    .checkcast(TRANSFER).lload(position).lload(count)
                    .invokeinterface(TRANSFER, "applyAsLong", MethodTypeDesc.of(CD_long, CD_long, CD_long))
                    .lreturn());
        }
    }

    /** Changes the file channels of this JVM. */
    static void install(Instrumentation instrumentation) {
        try {
            Beginnings.install(instrumentation, Map.of(Class.forName("sun.nio.ch.FileChannelImpl"),
                    Map.of(Method.TO.name, Method.TO::begin, Method.FROM.name, Method.FROM::begin)));
        } catch (ReflectiveOperationException | UnmodifiableClassException | RuntimeException | LinkageError e) {
            // They are slower.
            Installation.say(Level.WARN, "leaves file channels alone: " + e);
        }
    }

    /** Sends a part of a file as far as possible; returns how much. */
    static long send(FileChannel file, long position, long count, WritableByteChannel target) throws IOException {
        return transfer(count, (buffer, done) -> {
            int length = file.read(buffer, position + done);
            return length <= 0 ? length : target.write(buffer.flip());
        });
    }

    /** Receives a part of a file as far as possible; returns how much. */
    static long receive(FileChannel file, long position, long count, ReadableByteChannel source) throws IOException {
        return transfer(count, (buffer, done) -> {
            int length = source.read(buffer);
            return length <= 0 ? length : file.write(buffer.flip(), position + done);
        });
    }

    /** Moves what fits into a buffer. */
    private interface Piece {
        /** Returns how much was moved, after so much. */
        int move(ByteBuffer buffer, long done) throws IOException;
    }

    private static long transfer(long count, Piece piece) throws IOException {
        ByteBuffer buffer = Util.getTemporaryDirectBuffer((int) Math.min(count, PIECE));
        long done = 0;
        try {
            while (done < count) {
                buffer.clear().limit((int) Math.min(count - done, PIECE));
                int moved = piece.move(buffer, done);
                done += Math.max(moved, 0);
                if (moved <= 0 || buffer.hasRemaining()) {
                    break;
                }
            }
            return done;
        } catch (IOException e) {
            // The next one is told.
            if (done > 0) {
                return done;
            }
            throw e;
        } finally {
            Util.releaseTemporaryDirectBuffer(buffer);
        }
    }
}
