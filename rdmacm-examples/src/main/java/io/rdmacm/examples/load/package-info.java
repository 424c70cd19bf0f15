// SPDX-License-Identifier: Apache-2.0

/**
 * A load of puts and gets for any key-value store: several clients in parallel, each with a thread, a connection and
 * some requests in flight, check every value and measure latencies. {@link io.rdmacm.examples.load.LoadClient} is what
 * a store implements, {@link io.rdmacm.examples.load.LoadRun} runs the load, and
 * {@link io.rdmacm.examples.load.LoadReport} prints one row for each transport.
 */
package io.rdmacm.examples.load;
