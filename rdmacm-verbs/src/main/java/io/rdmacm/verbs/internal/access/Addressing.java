// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.access;

/** How the send work requests of a queue pair name their destination. */
public enum Addressing {
    /** Not at all: the queue pair is connected to its peer. */
    CONNECTED,
    /** By an address handle and a queue pair number, as those of type UD do. */
    DATAGRAM,
    /** By the number of a shared receive queue of the peer, as those of type XRC_SEND do. */
    SHARED_QUEUE,
    /** By an address handle, the number of a target and its key, which a driver's own function takes. */
    DCT
}
