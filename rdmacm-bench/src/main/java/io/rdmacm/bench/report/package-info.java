// SPDX-License-Identifier: Apache-2.0
/** What all benchmarks hand in, the files made of it, and the report with its plots. */
package io.rdmacm.bench.report;
