// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import io.rdmacm.bindings.Rdma;

/** A memory region could not be changed ({@code enum ibv_rereg_mr_err_code}, ibv_rereg_mr(3)). */
public final class ReregistrationException extends RdmaException {
    private static final long serialVersionUID = 1L;
    private static final String FUNCTION = "ibv_rereg_mr";

    private final Outcome outcome;

    private ReregistrationException(int errno, String detail, Outcome outcome) {
        super(FUNCTION, errno, detail);
        this.outcome = outcome;
    }

    /** What the region is afterwards. */
    public enum Outcome {
        /** As it was. */
        UNCHANGED("the region is as it was"),
        /** As it was wanted: only the old memory could not be given back to forked children. */
        CHANGED("the region was changed"),
        /** Not known: it can only be closed. */
        UNUSABLE("the region can only be closed");

        private final String text;

        Outcome(String text) {
            this.text = text;
        }

        /**
         * By the result of the C function.
         *
         * @param result 0 or one of the error codes
         * @param errno of the call
         */
        static Outcome of(int result, int errno) {
            if (result == 0 || result == Rdma.IBV_REREG_MR_ERR_DO_FORK_OLD()) {
                return CHANGED;
            }
            if (result == Rdma.IBV_REREG_MR_ERR_INPUT() || result == Rdma.IBV_REREG_MR_ERR_DONT_FORK_NEW()
                    || isUnsupported(errno)) {
                return UNCHANGED;
            }
            return UNUSABLE;
        }
    }

    /** The exception for a result of the C function. */
    static RdmaException of(int result, int errno, Outcome outcome) {
        // The command of a device that has no such command has changed nothing.
        return isUnsupported(errno) ? RdmaException.of(FUNCTION, errno, outcome.text)
                : new ReregistrationException(errno, code(result) + ", " + outcome.text, outcome);
    }

    /** What the region is now. */
    public Outcome outcome() {
        return outcome;
    }

    private static boolean isUnsupported(int errno) {
        return errno == Rdma.EOPNOTSUPP() || errno == Rdma.ENOSYS();
    }

    private static String code(int result) {
        String[] codes = {"IBV_REREG_MR_ERR_INPUT", "IBV_REREG_MR_ERR_DONT_FORK_NEW", "IBV_REREG_MR_ERR_DO_FORK_OLD",
                "IBV_REREG_MR_ERR_CMD", "IBV_REREG_MR_ERR_CMD_AND_DO_FORK_NEW"};
        int index = -result - 1;
        return index >= 0 && index < codes.length ? codes[index] : Integer.toString(result);
    }
}
