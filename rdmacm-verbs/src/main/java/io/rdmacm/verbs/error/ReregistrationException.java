// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.error;

/**
 * A memory region could not be reregistered ({@code enum ibv_rereg_mr_err_code}, ibv_rereg_mr(3)). {@link #outcome()}
 * says what has become of it.
 */
public final class ReregistrationException extends RdmaException {
    private static final long serialVersionUID = 1L;
    private static final String FUNCTION = "ibv_rereg_mr";

    /** The state of the region. */
    private final Outcome outcome;

    /**
     * Creates an exception for a reregistration that failed, at least in part.
     *
     * @param errno the error number, positive
     * @param errnoName the name of the error number
     * @param message the message
     * @param outcome the state of the region afterwards
     */
    public ReregistrationException(int errno, String errnoName, String message, Outcome outcome) {
        super(FUNCTION, errno, errnoName, message);
        this.outcome = outcome;
    }

    /** The state of a region after a failed reregistration. */
    public enum Outcome {
        /** The region is unchanged. */
        UNCHANGED("the region is unchanged"),
        /**
         * The region was changed as requested; only the old memory could not be made available to forked children
         * again.
         */
        CHANGED("the region was changed"),
        /** The state of the region is not known; it can only be closed. */
        UNUSABLE("the region can only be closed");

        private final String text;

        Outcome(String text) {
            this.text = text;
        }

        /** {@return the outcome in words, for messages} */
        public String text() {
            return text;
        }
    }

    /** {@return the state of the region afterwards} */
    public Outcome outcome() {
        return outcome;
    }
}
