// SPDX-License-Identifier: Apache-2.0
/**
 * What is measured: two ends in two processes ({@link io.rdmacm.bench.device.measure.End}), and what comes of it.
 */
package io.rdmacm.bench.device.measure;
