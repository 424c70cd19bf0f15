// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import io.rdmacm.verbs.error.RdmaException;

/** The device that the id is bound to was removed. Close everything that was created from its context. */
public class DeviceRemovedException extends RdmaException {
    private static final long serialVersionUID = 1L;

    DeviceRemovedException(String waitedFor) {
        super("rdma_get_cm_event", waitedFor + ": the RDMA device was removed");
    }
}
