// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.ffi;

import java.io.Closeable;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.error.NativeLibraryException;

/**
 * The limit of open files. The C libraries lose the error number that tells of it on its way through them: what arrives
 * is a device that is not there, or a function that is not implemented.
 */
final class FileLimit {
    /** More than opening a device takes at once. */
    private static final int ENOUGH = 8;
    /** More than loading the libraries and their drivers takes. */
    private static final int ENOUGH_TO_BEGIN = 24;

    private static final File NOTHING = new File("/dev/null");

    private static volatile boolean begun;

    private FileLimit() {
    }

    /**
     * What errno was after this thread's last call, or EMFILE where that is what has happened. After a call that has
     * failed.
     */
    static int cause() {
        int errno = Errno.last();
        boolean vague = errno == Rdma.ENODEV() || errno == Rdma.ENOENT() || errno == Rdma.ENOSYS();
        return vague && !isFree(ENOUGH) ? Rdma.EMFILE() : errno;
    }

    /**
     * Refuses the first use of the C libraries without room for their files: they look for their drivers once, and
     * would not know of any device to the end of this process.
     */
    static void checkBeginning(String library, String neededBy) throws NativeLibraryException {
        if (!begun) {
            if (!isFree(ENOUGH_TO_BEGIN)) {
                throw NativeLibraryException.tooFewFiles(library, neededBy, ENOUGH_TO_BEGIN);
            }
            begun = true;
        }
    }

    /** In Java alone: even the JDK's way to the C library opens a file when it is first used, and tries it once. */
    private static boolean isFree(int files) {
        if (!NOTHING.exists()) {
            return true; // nothing can be told
        }
        Deque<Closeable> opened = new ArrayDeque<>();
        try {
            try {
                while (opened.size() < files) {
                    opened.push(new FileInputStream(NOTHING));
                }
                return true;
            } finally {
                while (!opened.isEmpty()) {
                    opened.pop().close();
                }
            }
        } catch (IOException e) {
            return false;
        }
    }
}
