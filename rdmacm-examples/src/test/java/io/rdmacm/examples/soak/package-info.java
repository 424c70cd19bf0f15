// SPDX-License-Identifier: Apache-2.0

/**
 * The soak test, run by {@code scripts/soak}.
 *
 * <p>Worker threads run {@linkplain io.rdmacm.examples.soak.Scenario scenarios} at random for minutes or hours:
 * connections of all three layers come and go, with all kinds of operations, and with faults among them. All data is
 * checked. At the end of each interval everything is closed, and nothing may be left behind.
 *
 * <p>Start with {@link io.rdmacm.examples.soak.SoakRun}, the loop over the intervals; then
 * {@link io.rdmacm.examples.soak.Interval}, the worker threads; then {@link io.rdmacm.examples.soak.ScenarioMix}, the
 * list of scenarios. {@link io.rdmacm.examples.soak.InjectedBug} proves that the soak finds what it looks for.
 *
 * <p>The soak is a test and not one of the programs because it reads counts that are internal to the library.
 */
package io.rdmacm.examples.soak;
