// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.forked;

import io.rdmacm.verbs.device.ForkSupport;
import io.rdmacm.verbs.error.RdmaException;

/** Prepares for fork(2) before anything is registered, and prints what came of it. */
public final class InitializeFork {
    private InitializeFork() {
    }

    /** Takes no arguments. */
    public static void main(String[] arguments) throws RdmaException {
        ForkSupport.initialize();
        System.out.println(ForkSupport.status());
    }
}
