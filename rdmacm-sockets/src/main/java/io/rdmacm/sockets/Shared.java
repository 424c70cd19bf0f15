// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import java.nio.channels.spi.SelectorProvider;

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
 */
record Shared(SelectorProvider provider, SelectorProvider jdk, RdmaSelectorProvider rdma, Choice choice,
        Connector connector, Connections connections) {
}
