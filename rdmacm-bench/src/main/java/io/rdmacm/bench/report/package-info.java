// SPDX-License-Identifier: Apache-2.0
/**
 * The results of all benchmarks, the file that they are stored in, and the reports with their plots.
 *
 * <p>{@link io.rdmacm.bench.report.Result} is one figure, {@link io.rdmacm.bench.report.ResultsFile} the JSON file,
 * {@link io.rdmacm.bench.report.Summary} the ratios between Java and C. {@link io.rdmacm.bench.report.Report} is the
 * main class that writes the HTML page and {@code docs/performance.md}.
 */
package io.rdmacm.bench.report;
