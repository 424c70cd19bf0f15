// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.util.List;

/**
 * What operators see of a {@link ConnectionManager} by JMX, after {@link ConnectionManager#registerMXBean}. The sums
 * are those of all connections that the manager has had, open and closed ones.
 */
public interface ConnectionManagerMXBean {
    /** {@return how many connections are open} */
    int getOpenConnections();

    /** {@return how many connections have been established} */
    long getEstablishedConnections();

    /** {@return the addresses that the open listeners listen on} */
    List<String> getListeners();

    /** {@return {@link ConnectionCounters#messagesSent()} of all connections} */
    long getMessagesSent();

    /** {@return {@link ConnectionCounters#bytesSent()} of all connections} */
    long getBytesSent();

    /** {@return {@link ConnectionCounters#messagesReceived()} of all connections} */
    long getMessagesReceived();

    /** {@return {@link ConnectionCounters#bytesReceived()} of all connections} */
    long getBytesReceived();

    /** {@return {@link ConnectionCounters#operations()} of all connections} */
    long getOperations();

    /** {@return {@link ConnectionCounters#operationBytes()} of all connections} */
    long getOperationBytes();

    /** {@return {@link ConnectionCounters#receivesExhausted()} of all connections} */
    long getReceivesExhausted();

    /** {@return {@link ConnectionCounters#waits()} of all connections} */
    long getWaits();

    /** {@return {@link ConnectionLoopGroup#connections()} of all loops} */
    long getLoopConnections();

    /** {@return {@link ConnectionLoopGroup#completions()} of the open loops} */
    long getLoopCompletions();

    /** {@return {@link ConnectionManager#registeredBytes()}} */
    long getRegisteredBytes();

    /** {@return {@link ConnectionManager#buffersInUse()}} */
    long getBuffersInUse();

    /** {@return the open connections, each with its counters} */
    List<ConnectionRow> getConnections();

    /**
     * An open connection.
     *
     * @param localAddress the local address
     * @param peerAddress the address of the peer
     * @param messagesSent {@link ConnectionCounters#messagesSent()}
     * @param bytesSent {@link ConnectionCounters#bytesSent()}
     * @param messagesReceived {@link ConnectionCounters#messagesReceived()}
     * @param bytesReceived {@link ConnectionCounters#bytesReceived()}
     * @param operations {@link ConnectionCounters#operations()}
     * @param operationBytes {@link ConnectionCounters#operationBytes()}
     */
    record ConnectionRow(String localAddress, String peerAddress, long messagesSent, long bytesSent,
            long messagesReceived, long bytesReceived, long operations, long operationBytes) {
        static ConnectionRow of(Connection connection) {
            ConnectionCounters counters = connection.counters();
            return new ConnectionRow(connection.localAddress().toString(), connection.peerAddress().toString(),
                    counters.messagesSent(), counters.bytesSent(), counters.messagesReceived(),
                    counters.bytesReceived(), counters.operations(), counters.operationBytes());
        }
    }
}
