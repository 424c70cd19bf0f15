// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

/** What an operation needs before it can be started. */
enum Room {
    /** A place in the send queue. */
    REQUEST,
    /** That, and a send buffer. */
    BUFFER,
    /** Those, and one of the places that the peer has for large messages. */
    LARGE_MESSAGE
}
