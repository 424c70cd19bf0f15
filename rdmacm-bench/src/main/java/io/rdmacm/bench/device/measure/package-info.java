// SPDX-License-Identifier: Apache-2.0
/**
 * What is measured and what comes of it: {@link io.rdmacm.bench.device.measure.Measurement} and
 * {@link io.rdmacm.bench.device.measure.Trial} with their outcomes, and the ends between which messages go to and fro.
 */
package io.rdmacm.bench.device.measure;
