// SPDX-License-Identifier: Apache-2.0

/**
 * What operators see.
 *
 * <h2>What lives here</h2>
 * {@link io.rdmacm.verbs.metrics.MetricSource} is what connections, streams, listeners, loops and pools have in common:
 * numbers with names.
 *
 * <h2>What it stands on</h2>
 * Nothing.
 */
package io.rdmacm.verbs.metrics;
