// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

/**
 * A signature that was wrong ({@code struct mlx5dv_mkey_err}, mlx5dv_mkey_check(3)).
 *
 * @param kind which part of the signature
 * @param actual the value that was found
 * @param expected the value that should have been there
 * @param offset where the block begins, in bytes from the beginning of the memory
 */
public record MkeyError(Kind kind, long actual, long expected, long offset) {
    /** Parts of signatures ({@code enum mlx5dv_mkey_err_type}), in the order of C, which begins with 1. */
    public enum Kind {
        /** The guard, or the checksum. */
        BAD_GUARD,
        /** The reference tag. */
        BAD_REFERENCE_TAG,
        /** The application tag. */
        BAD_APPLICATION_TAG,
        /** Something newer than this library. */
        OTHER;

        /** Returns the kind with a C constant, which is not that of no error. */
        static Kind of(int value) {
            return value > 0 && value <= OTHER.ordinal() ? values()[value - 1] : OTHER;
        }
    }
}
