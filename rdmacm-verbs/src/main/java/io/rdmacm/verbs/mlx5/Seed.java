// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

/** What the computation of a checksum begins with. Devices know these two. */
public enum Seed {
    /** All bits are 0. */
    ZEROS,
    /** All bits are 1. */
    ONES
}
