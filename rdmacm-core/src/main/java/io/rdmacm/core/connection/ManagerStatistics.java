// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.lang.management.ManagementFactory;
import java.util.List;
import javax.management.InstanceAlreadyExistsException;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/** The numbers of a manager as JMX reads them. */
final class ManagerStatistics implements ConnectionManagerMXBean {
    private final ConnectionManager manager;
    private final ObjectName name;

    private ManagerStatistics(ConnectionManager manager, ObjectName name) {
        this.manager = manager;
        this.name = name;
    }

    static ManagerStatistics register(ConnectionManager manager, String name) {
        try {
            ManagerStatistics bean = new ManagerStatistics(manager,
                    new ObjectName("io.rdmacm:type=ConnectionManager,name=" + ObjectName.quote(name)));
            var ignored = server().registerMBean(bean, bean.name);
            return bean;
        } catch (InstanceAlreadyExistsException e) {
            throw new IllegalStateException("another MXBean has the name " + name, e);
        } catch (JMException e) {
            throw new IllegalStateException(e);
        }
    }

    private static MBeanServer server() {
        return ManagementFactory.getPlatformMBeanServer();
    }

    void unregister() {
        try {
            server().unregisterMBean(name);
        } catch (InstanceNotFoundException e) {
            // the program has done so
        } catch (JMException e) {
            throw new IllegalStateException(e);
        }
    }

    ObjectName name() {
        return name;
    }

    @Override
    public int getOpenConnections() {
        return manager.connections().size();
    }

    @Override
    public long getEstablishedConnections() {
        return manager.establishedConnections();
    }

    @Override
    public List<String> getListeners() {
        return manager.listeners().stream().map(listener -> listener.address().toString()).toList();
    }

    @Override
    public long getMessagesSent() {
        return manager.counters().messagesSent();
    }

    @Override
    public long getBytesSent() {
        return manager.counters().bytesSent();
    }

    @Override
    public long getMessagesReceived() {
        return manager.counters().messagesReceived();
    }

    @Override
    public long getBytesReceived() {
        return manager.counters().bytesReceived();
    }

    @Override
    public long getOperations() {
        return manager.counters().operations();
    }

    @Override
    public long getOperationBytes() {
        return manager.counters().operationBytes();
    }

    @Override
    public long getReceivesExhausted() {
        return manager.counters().receivesExhausted();
    }

    @Override
    public long getWaits() {
        return manager.counters().waits();
    }

    @Override
    public long getLoopConnections() {
        return manager.loops().stream().mapToLong(ConnectionLoopGroup::connections).sum();
    }

    @Override
    public long getLoopCompletions() {
        return manager.loops().stream().mapToLong(ConnectionLoopGroup::completions).sum();
    }

    @Override
    public long getRegisteredBytes() {
        return manager.registeredBytes();
    }

    @Override
    public long getBuffersInUse() {
        return manager.buffersInUse();
    }

    @Override
    public List<ConnectionRow> getConnections() {
        return manager.connections().stream().map(ConnectionRow::of).toList();
    }
}
