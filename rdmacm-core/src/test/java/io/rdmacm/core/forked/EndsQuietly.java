// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.forked;

import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.testing.Peers;

/** Ends a connection with all its receives posted, and takes note of that on the other side. */
public final class EndsQuietly {
    private EndsQuietly() {
    }

    /** Takes no arguments. */
    public static void main(String[] args) throws Exception {
        try (Peers peers = new Peers(); Peers.Pair pair = peers.connect()) {
            pair.client().close();
            pair.server().receive(Peers.TIMEOUT).close();
        } catch (DisconnectedException e) {
            System.out.println("ended");
        }
    }
}
