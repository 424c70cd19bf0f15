// SPDX-License-Identifier: Apache-2.0

/**
 * The checked exceptions of libibverbs and librdmacm.
 *
 * <h2>What lives here</h2>
 * {@link io.rdmacm.verbs.error.RdmaException} and its subclasses, one for each kind of failure to which a program would
 * react differently. Invalid arguments raise an {@link java.lang.IllegalArgumentException}, and calls in the wrong
 * state an {@link java.lang.IllegalStateException}; both are thrown before C is called.
 *
 * <h2>Read first</h2>
 * {@link io.rdmacm.verbs.error.RdmaException}, {@link io.rdmacm.verbs.error.RdmaTimeoutException},
 * {@link io.rdmacm.verbs.error.NativeLibraryException}.
 *
 * <h2>What it stands on</h2>
 * No other package of this module; all others stand on this one.
 */
package io.rdmacm.verbs.error;
