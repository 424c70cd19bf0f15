// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

/** Stands in for the class of this name: there is no handler. */
final class HandlerCalls {
    boolean hasHandler() {
        return false;
    }

    void ready() {
    }
}
