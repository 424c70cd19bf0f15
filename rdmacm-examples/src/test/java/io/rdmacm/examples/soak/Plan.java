// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.net.InetAddress;
import java.time.Duration;

/**
 * The settings of a soak.
 *
 * @param address the IP address of the device
 * @param mix which scenarios to run
 * @param duration for how long
 * @param connections until so many connections were made, if that is earlier
 * @param seed of the random choices
 * @param workers how many scenarios run in parallel
 * @param interval how long they run between two checks of what is in use
 * @param timeout how long to wait for something that must happen
 */
record Plan(InetAddress address, ScenarioMix mix, Duration duration, long connections, long seed,
        int workers, Duration interval, Duration timeout) {
}
