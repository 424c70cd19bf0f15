// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.kvstore;

/**
 * What the load is made of.
 *
 * @param operations how many, of all clients together
 * @param clients how many at once
 * @param keys how many different ones
 * @param valueBytes how long a value is
 * @param readPercent how many of a hundred operations are gets
 */
record LoadPlan(int operations, int clients, int keys, int valueBytes, int readPercent) {
}
