// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.load;

/**
 * The settings of a load.
 *
 * @param operations the number of operations of all clients together
 * @param clients the number of parallel clients
 * @param keys the number of different keys
 * @param valueBytes the length of a value
 * @param readPercent the percentage of gets
 * @param depth how many requests each client sends at once, before it waits for their answers
 */
public record LoadPlan(int operations, int clients, int keys, int valueBytes, int readPercent, int depth) {
}
