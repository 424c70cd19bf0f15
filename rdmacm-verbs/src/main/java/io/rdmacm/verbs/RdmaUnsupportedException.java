// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

/**
 * The device, its driver or the installed rdma-core lacks what was asked for (EOPNOTSUPP, ENOSYS; another number where
 * the device itself says that it lacks it).
 */
public class RdmaUnsupportedException extends RdmaException {
    private static final long serialVersionUID = 1L;

    RdmaUnsupportedException(String function, int errno, String detail) {
        super(function, errno, detail);
    }
}
