// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import java.util.List;
import java.util.Map;

/** Which way the connections and servers of this JVM went: {@code io.rdmacm.sockets:type=Connections}. */
public interface ConnectionsMXBean {
    /** The name of it. */
    String NAME = "io.rdmacm.sockets:type=Connections";

    /** {@return what is done in this JVM} */
    String getState();

    /** {@return how many connections and servers went which way, and why} */
    Map<String, Long> getCounts();

    /** {@return the last ones, the oldest first} */
    List<String> getRecent();
}
