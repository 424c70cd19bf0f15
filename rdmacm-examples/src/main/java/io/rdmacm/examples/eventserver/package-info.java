// SPDX-License-Identifier: Apache-2.0

/**
 * The classic event-driven server, and its client: one thread takes the events of all connections, and each connection
 * has a thread that takes its completions.
 */
package io.rdmacm.examples.eventserver;
