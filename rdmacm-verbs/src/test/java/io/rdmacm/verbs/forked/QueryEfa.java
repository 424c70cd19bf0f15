// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.forked;

import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.efa.EfaDeviceAttributes;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.error.RdmaException;

/** Asks a device for the attributes of EFA, and writes the refusal. */
public final class QueryEfa {
    private QueryEfa() {
    }

    /** Takes no arguments. */
    public static void main(String[] arguments) throws RdmaException {
        try (VerbsContext context = Device.list().getFirst().open()) {
            EfaDeviceAttributes.query(context);
        } catch (NativeLibraryException e) {
            System.out.println(e.getMessage());
        }
    }
}
