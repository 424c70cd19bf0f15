// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.Serializable;
import java.rmi.Remote;

import io.rdmacm.bench.device.measure.End;
import io.rdmacm.bench.device.measure.Outcome;

/** One of the two processes of the Java side: it has one end of what is measured. The other process calls it by RMI. */
interface Peer extends Remote {
    /** Opens an end, and closes the one before; returns the address of the end. */
    Serializable open(End.Opener opener, End.Load load, boolean client) throws Exception;

    /** Connects it with the end at the address, which does the same at the same time. */
    Void connect(Serializable address) throws Exception;

    /** Returns what it has measured; null for nothing. */
    Outcome run() throws Exception;

    /** Closes the end. */
    Void close() throws Exception;
}
