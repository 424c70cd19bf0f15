// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bindings;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.Callable;

/** What {@link WithoutLibraryTest} runs in JVMs that lack something: prints what works and what does not. */
final class UseEverything {
    private UseEverything() {
    }

    /** Prints one line for each thing tried. */
    public static void main(String[] args) throws ClassNotFoundException {
        System.out.println("initialised " + Facts.topLevelClasses().stream().mapToInt(UseEverything::initialise).sum());
        System.out.println("facts " + Facts.all().size());
        System.out.println("constant " + Rdma.EAGAIN());
        System.out.println("layout " + ibv_sge.layout().byteSize());
        System.out.println("descriptor " + Rdma.rdma_create_event_channel$descriptor().toMethodType());
        // Twice, because a failed static initialiser would say something else the second time.
        attempt("first call", Rdma::rdma_create_event_channel);
        attempt("second call", Rdma::rdma_create_event_channel);
        attempt("address", Rdma::rdma_create_event_channel$address);
        attempt("verbs call", Rdma::ibv_fork_init);
        attempt("pointer call", () -> ibv_context_ops.poll_cq.invoke(MemorySegment.NULL, MemorySegment.NULL, 0,
                MemorySegment.NULL));
    }

    private static int initialise(Class<?> type) {
        try {
            Class.forName(type.getName(), true, type.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new AssertionError(e);
        }
        int nested = 0;
        for (Class<?> member : type.getDeclaredClasses()) {
            nested += initialise(member);
        }
        return 1 + nested;
    }

    private static void attempt(String what, Callable<?> action) {
        try {
            action.call();
            System.out.println(what + " works");
        } catch (Exception | LinkageError e) {
            System.out.println(what + " throws " + e);
        }
    }
}
