// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.net.InetAddress;
import java.time.Duration;

/**
 * What is to be done.
 *
 * @param address of the device
 * @param repertoire what is played
 * @param duration for how long
 * @param connections or until so many connections were made, whichever comes first
 * @param seed what decides
 * @param workers how many play at once
 * @param shift how long they play between two looks at what is in use
 * @param patience how long a thing may take that must happen
 */
record Plan(InetAddress address, Repertoire repertoire, Duration duration, long connections, long seed,
        int workers, Duration shift, Duration patience) {
}
