// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.forked;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.FakeStack;

/** Creates an object while the native memory of the JVM is used up. With a low limit of it. */
public final class ExhaustNativeMemory {
    private ExhaustNativeMemory() {
    }

    /** Prints what was thrown, and whether all is well once there is memory again. */
    public static void main(String[] arguments) throws Exception {
        try (FakeStack stack = new FakeStack()) {
            List<ByteBuffer> all = useUp();
            tell(() -> stack.context().createCompletionChannel().close());
            all.clear();
            stack.context().createCompletionChannel().close();
        }
        System.out.println("all is well");
    }

    /** Takes the last byte, too. */
    private static List<ByteBuffer> useUp() {
        List<ByteBuffer> all = new ArrayList<>();
        for (int bytes = 1 << 20; bytes > 0; bytes /= 16) {
            try {
                while (true) {
                    all.add(ByteBuffer.allocateDirect(bytes));
                }
            } catch (OutOfMemoryError e) {
                // continues with smaller ones
            }
        }
        return all;
    }

    private static void tell(Background.Action creation) throws Exception {
        try {
            creation.run();
            System.out.println("there was memory left");
        } catch (RdmaException e) {
            System.out.println(e.errnoName());
        } catch (OutOfMemoryError e) {
            System.out.println(e);
        }
    }
}
