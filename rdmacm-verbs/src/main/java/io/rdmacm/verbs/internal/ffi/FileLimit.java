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
 * Detects that the limit of open files was reached. The C libraries do not pass EMFILE on to their callers: they report
 * a missing device or an unimplemented function instead.
 */
final class FileLimit {
    /** More files than opening a device needs at once. */
    private static final int ENOUGH = 8;
    /** More files than loading the libraries and their drivers needs. */
    private static final int ENOUGH_TO_BEGIN = 24;

    private static final File NOTHING = new File("/dev/null");

    private static volatile boolean begun;

    private FileLimit() {
    }

    /**
     * Returns why this thread's last call failed: errno, or EMFILE if errno is vague and hardly any file can be opened.
     */
    static int cause() {
        int errno = Errno.last();
        boolean vague = errno == Rdma.ENODEV() || errno == Rdma.ENOENT() || errno == Rdma.ENOSYS();
        return vague && !isFree(ENOUGH) ? Rdma.EMFILE() : errno;
    }

    /**
     * Checks before the first use of the C libraries that they can open their files. They search for drivers only once:
     * if that failed, they would find no device for the rest of this process.
     *
     * @throws NativeLibraryException if too few files can be opened
     */
    static void checkBeginning(String library, String neededBy) throws NativeLibraryException {
        if (!begun) {
            if (!isFree(ENOUGH_TO_BEGIN)) {
                throw LibraryFailures.tooFewFiles(library, neededBy, ENOUGH_TO_BEGIN);
            }
            begun = true;
        }
    }

    /**
     * Returns whether so many more files can be opened. Uses only the Java API: even the JDK's lookup of the C library
     * opens a file when it is first used, and does not try again if that fails.
     */
    private static boolean isFree(int files) {
        if (!NOTHING.exists()) {
            return true; // not known
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
