// SPDX-License-Identifier: Apache-2.0
/**
 * The results of all benchmarks, the ratios between Java and C that they amount to, and the page with its plots.
 *
 * <p>{@link io.rdmacm.bench.report.Result} is one figure, {@link io.rdmacm.bench.report.Results} the JSON file,
 * {@link io.rdmacm.bench.report.Summary} the ratios and their goals. {@link io.rdmacm.bench.report.Report} is the main
 * class.
 */
package io.rdmacm.bench.report;
