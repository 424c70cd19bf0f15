// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.error;

/** A memory region could not be changed ({@code enum ibv_rereg_mr_err_code}, ibv_rereg_mr(3)). */
public final class ReregistrationException extends RdmaException {
    private static final long serialVersionUID = 1L;
    private static final String FUNCTION = "ibv_rereg_mr";

    private final Outcome outcome;

    /**
     * A change that failed, at least in part.
     *
     * @param errno the error number
     * @param errnoName the symbol of the error number
     * @param message the message
     * @param outcome what the region is now
     */
    public ReregistrationException(int errno, String errnoName, String message, Outcome outcome) {
        super(FUNCTION, errno, errnoName, message);
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

        /** In words, for messages. */
        public String text() {
            return text;
        }
    }

    /** What the region is now. */
    public Outcome outcome() {
        return outcome;
    }
}
