// SPDX-License-Identifier: Apache-2.0

/**
 * The events of Java Flight Recorder about connections. Not exported.
 *
 * <h2>What lives here</h2>
 * A class for each event, and {@link io.rdmacm.core.internal.jfr.ConnectionEvents}, through which all are recorded.
 * The module {@code jdk.jfr} is optional, so callers hold an event as an {@link java.lang.Object}, which is null when
 * nothing is recorded.
 *
 * <h2>Read first</h2>
 * {@link io.rdmacm.core.internal.jfr.ConnectionEvents}.
 *
 * <h2>What it stands on</h2>
 * {@code io.rdmacm.verbs.internal.jfr}.
 */
package io.rdmacm.core.internal.jfr;
