// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import java.net.SocketOption;
import java.nio.channels.spi.SelectorProvider;
import java.util.Map;

import io.rdmacm.core.nio.RdmaSelectorProvider;

/**
 * What the channels of a provider share.
 *
 * @param provider the provider
 * @param jdk that of the JDK's channels
 * @param rdma that of the channels over RDMA
 * @param choice which way they go
 * @param connector carries on with their connects
 * @param connections keeps account of them
 * @param tcpOptions the options of the JDK's sockets, and their values when they are new
 */
record Shared(SelectorProvider provider, SelectorProvider jdk, RdmaSelectorProvider rdma, Choice choice,
        Connector connector, Connections connections,
        Map<SocketOption<?>, Object> tcpOptions) {
}
