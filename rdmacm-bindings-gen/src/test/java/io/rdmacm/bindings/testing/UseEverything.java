// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bindings.testing;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.Callable;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_context_ops;
import io.rdmacm.bindings.ibv_sge;

/** A program that uses every kind of binding and prints what works and what does not, for JVMs that lack something. */
public final class UseEverything {
    private UseEverything() {
    }

    /** Prints a line for each attempt. */
    public static void main(String[] args) throws ClassNotFoundException {
        System.out.println("initialised " + Facts.topLevelClasses().stream().mapToInt(UseEverything::initialise).sum());
        System.out.println("facts " + Facts.all().size());
        System.out.println("constant " + Rdma.EAGAIN());
        System.out.println("layout " + ibv_sge.layout().byteSize());
        System.out.println("descriptor " + Rdma.rdma_create_event_channel$descriptor().toMethodType());
        // Twice: after a failed static initializer, the second call would throw another exception.
        attempt("first call", Rdma::rdma_create_event_channel);
        attempt("second call", Rdma::rdma_create_event_channel);
        attempt("address", Rdma::rdma_create_event_channel$address);
        attempt("verbs call", Rdma::ibv_fork_init);
        attempt("variadic call", () -> Rdma.rfcntl.makeInvoker().apply(-1, Rdma.F_GETFL()));
        attempt("variadic address", Rdma.rfcntl::address);
        attempt("newer call", () -> Rdma.repoll_create(0));
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
