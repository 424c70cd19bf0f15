// SPDX-License-Identifier: Apache-2.0

/**
 * The checked exceptions of libibverbs and librdmacm.
 *
 * <h2>What lives here</h2>
 * {@link io.rdmacm.verbs.error.RdmaException} and its subclasses. There is a subclass wherever a program would act
 * differently, and nowhere else. Wrong arguments are {@link java.lang.IllegalArgumentException}s and calls at the wrong
 * time are {@link java.lang.IllegalStateException}s; both are thrown before any native call.
 *
 * <h2>Read first</h2>
 * {@link io.rdmacm.verbs.error.RdmaException}, {@link io.rdmacm.verbs.error.RdmaTimeoutException},
 * {@link io.rdmacm.verbs.error.NativeLibraryException}.
 *
 * <h2>What it stands on</h2>
 * Nothing: all other packages stand on this one.
 */
package io.rdmacm.verbs.error;
