// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.ffi;

import io.rdmacm.verbs.error.NativeLibraryException;

/** The error numbers of the operating system: captured per thread, and converted to names and texts. */
public final class Errno {
    /** ENOTSUPP: internal to the kernel, but its RDMA code leaks it to programs. */
    public static final int KERNEL_ENOTSUPP = 524;

    private static final ThreadLocal<int[]> LAST = ThreadLocal.withInitial(() -> new int[1]);
    private static final NativeFunction NAME = NativeFunction.libc("strerrorname_np");
    private static final NativeFunction TEXT = NativeFunction.libc("strerror");

    private Errno() {
    }

    /** Returns where this thread keeps errno of its last call. */
    static int[] ofThisThread() {
        return LAST.get();
    }

    /** Returns errno as it was after this thread's last call of a {@link NativeFunction}. */
    public static int last() {
        return LAST.get()[0];
    }

    /** Returns the name of an error number, such as {@code ENOMEM}; {@code errno 12} if the C library has no name. */
    public static String name(int errno) {
        if (errno == KERNEL_ENOTSUPP) {
            return "ENOTSUPP";
        }
        String name = null;
        try {
            // In glibc since 2.32.
            name = NAME.isAvailable() ? Memory.string(NAME.callLong(errno)) : null;
        } catch (NativeLibraryException e) {
            // Cannot happen: isAvailable() was checked, and the C library is always there.
        }
        return name == null ? "errno " + errno : name;
    }

    /** Returns the text of an error number, such as {@code Cannot allocate memory}. */
    public static String text(int errno) {
        if (errno == KERNEL_ENOTSUPP) {
            return "Operation is not supported by the kernel";
        }
        try {
            return Memory.string(TEXT.callLong(errno));
        } catch (NativeLibraryException e) {
            return "error " + errno;
        }
    }
}
