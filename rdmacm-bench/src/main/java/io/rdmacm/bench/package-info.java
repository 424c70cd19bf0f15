// SPDX-License-Identifier: Apache-2.0
/**
 * JMH benchmarks; {@code java -jar rdmacm-bench/target/benchmarks.jar -l} lists them. The packages below compare the
 * library with C: {@code overhead} without a device, {@code device} over one; {@code report} writes the results.
 */
package io.rdmacm.bench;
