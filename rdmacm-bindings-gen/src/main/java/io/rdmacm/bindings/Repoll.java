// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bindings;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Set;

/**
 * The three functions of {@code rsocket.h} that came with rdma-core 65. Written by hand in the manner of jextract,
 * because the rest of the bindings is generated from the headers of rdma-core 44, which do not declare them. With an
 * older librdmacm, each call throws an UnsatisfiedLinkError that says so.
 *
 * <p>Events are {@code struct epoll_event}, and the operations those of epoll_ctl(2). If they fail, repoll_create
 * and repoll_wait return -1 and set errno, but repoll_ctl returns the error number. An instance is closed with rclose.
 */
@SuppressWarnings("restricted")
public final class Repoll {
    static final Set<String> NAMES = Set.of("repoll_create", "repoll_ctl", "repoll_wait");
    static final String SINCE = "rdma-core 65 (symbol version RDMACM_1.5)";

    private Repoll() {
    }

    private static class Create {
        static final FunctionDescriptor DESC = FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT);
        static final MethodHandle HANDLE = NativeLibrary.downcall("repoll_create", DESC);
    }

    private static class Ctl {
        static final FunctionDescriptor DESC = FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT,
                ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS);
        static final MethodHandle HANDLE = NativeLibrary.downcall("repoll_ctl", DESC);
    }

    private static class Wait {
        static final FunctionDescriptor DESC = FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT,
                ValueLayout.ADDRESS, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT);
        static final MethodHandle HANDLE = NativeLibrary.downcall("repoll_wait", DESC);
    }

    /** {@snippet lang=c : int repoll_create(int flags) } */
    public static int repoll_create(int flags) {
        try {
            return (int) Create.HANDLE.invokeExact(flags);
        } catch (Error | RuntimeException e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError("should not reach here", e);
        }
    }

    /** {@snippet lang=c : int repoll_ctl(int epfd, int op, int fd, struct epoll_event *event) } */
    public static int repoll_ctl(int epfd, int op, int fd, MemorySegment event) {
        try {
            return (int) Ctl.HANDLE.invokeExact(epfd, op, fd, event);
        } catch (Error | RuntimeException e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError("should not reach here", e);
        }
    }

    /** {@snippet lang=c : int repoll_wait(int epfd, struct epoll_event *events, int maxevents, int timeout) } */
    public static int repoll_wait(int epfd, MemorySegment events, int maxevents, int timeout) {
        try {
            return (int) Wait.HANDLE.invokeExact(epfd, events, maxevents, timeout);
        } catch (Error | RuntimeException e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError("should not reach here", e);
        }
    }
}
