// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_long;

import java.io.IOException;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.nio.channels.FileChannel;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.LongBinaryOperator;

import org.slf4j.event.Level;

/**
 * Lets the file channels of the JDK leave transfers to our channels. By themselves, they use sendfile(2) for sockets of
 * the JDK only. Channels of others can choose between pieces of 8 KiB, and a map of up to 8 MiB that is made for each
 * call, whose page faults can take longer than all else.
 */
final class FileTransfers {
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

        ClassTransform change() {
            return Beginnings.of(name, this::begin);
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
                    Method.TO.change().andThen(Method.FROM.change())));
        } catch (ReflectiveOperationException | UnmodifiableClassException | RuntimeException | LinkageError e) {
            // They are slower.
            Installation.say(Level.INFO, "leaves file channels alone: " + e);
        }
    }
}
