// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.forked;

import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.error.NativeLibraryException;

/** Lists the devices, twice: what fails must fail the same way each time. */
public final class ListDevices {
    private ListDevices() {
    }

    /** No arguments. */
    public static void main(String[] arguments) {
        for (int i = 1; i <= 2; i++) {
            System.out.println(i + " " + list());
        }
    }

    private static String list() {
        try {
            return Device.list().toString();
        } catch (NativeLibraryException e) {
            return "NativeLibraryException of " + e.library() + " and " + e.function() + ": " + e.getMessage();
        } catch (Exception | Error e) {
            return e.getClass().getSimpleName() + ": " + e.getMessage();
        }
    }
}
