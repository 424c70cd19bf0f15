// SPDX-License-Identifier: Apache-2.0

/**
 * The events of Java Flight Recorder that this module writes. Not exported.
 *
 * <h2>What lives here</h2>
 * The module {@code jdk.jfr} is optional, so no class outside names one of its types: callers hold an event as an
 * {@link java.lang.Object}, which is null when nothing is recorded. The classes of events are not loaded before
 * {@link io.rdmacm.verbs.internal.jfr.FlightRecording} has found the module.
 *
 * <h2>Read first</h2>
 * {@link io.rdmacm.verbs.internal.jfr.RegistrationEvents}.
 *
 * <h2>What it stands on</h2>
 * Nothing but the JDK.
 */
package io.rdmacm.verbs.internal.jfr;
