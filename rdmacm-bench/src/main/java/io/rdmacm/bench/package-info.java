// SPDX-License-Identifier: Apache-2.0

/** JMH benchmarks: {@code java -jar rdmacm-bench/target/benchmarks.jar -l} lists them. */
package io.rdmacm.bench;
