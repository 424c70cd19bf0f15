// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;

import io.rdmacm.bindings.NativeLibrary;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** Calls of functions that librdmacm has since rdma-core 60, and that need commands which the kernel got even later. */
public final class RdmaCore60 {
    // The last of which it is known that it has not the commands, and the first of which it is known that it has them.
    private static final int[] WITHOUT = {6, 16};
    private static final int[] WITH = {6, 18};

    private RdmaCore60() {
    }

    /** Whether the installed librdmacm has a function. */
    public static boolean has(String function) {
        return NativeLibrary.of(function).find(function).isPresent();
    }

    /**
     * Makes a call where librdmacm and the kernel can do it, and checks how it is refused where they cannot.
     *
     * @return whether it was done
     */
    public static boolean isDone(String function, ThrowingCallable call) {
        if (!has(function)) {
            assertNotInstalled(function, call);
            return false;
        }
        if (Arrays.compare(kernel(), WITH) >= 0) {
            assertThatCode(call).doesNotThrowAnyException();
            return true;
        }
        if (Arrays.compare(kernel(), WITHOUT) <= 0) {
            assertThatThrownBy(call).isInstanceOf(RdmaUnsupportedException.class).hasMessageContaining(function)
                    .hasMessageContaining("kernel");
            return false;
        }
        try {
            call.call();
            return true;
        } catch (Throwable e) {
            assertThat(e).isInstanceOf(RdmaUnsupportedException.class);
            return false;
        }
    }

    /** Checks the exception of a call of a function that the installed librdmacm does not have. */
    public static void assertNotInstalled(String function, ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOf(NativeLibraryException.class).hasMessageContainingAll("librdmacm.so.1",
                "no function " + function, "came with rdma-core 60",
                NativeLibrary.LIBRDMACM.release().map(release -> "rdma-core " + release).orElse(""), "too old");
    }

    private static int[] kernel() {
        String[] numbers = System.getProperty("os.version").split("[^0-9]+");
        return new int[] {Integer.parseInt(numbers[0]), Integer.parseInt(numbers[1])};
    }
}
