// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.Objects;
import javax.management.Attribute;
import javax.management.AttributeList;
import javax.management.AttributeNotFoundException;
import javax.management.DynamicMBean;
import javax.management.InstanceAlreadyExistsException;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;

import io.rdmacm.verbs.metrics.MetricSource;

/**
 * Makes the numbers of a connection, a stream, a listener, a loop or a pool readable by JMX: an MBean of the platform
 * with an attribute for each number. It keeps its source reachable until it is closed; close it with the source.
 */
public final class JmxMetrics implements AutoCloseable {
    private final ObjectName name;

    private JmxMetrics(ObjectName name) {
        this.name = name;
    }

    /**
     * Registers an MBean with the MBean server of the platform.
     *
     * @param type the kind of the source, such as {@code Connection}, without characters that JMX reserves
     * @param name tells this source from others
     * @param source whose numbers are read
     * @return the registration, to be closed
     * @throws IllegalArgumentException when JMX does not allow the type
     * @throws IllegalStateException when another one of this type has the name
     */
    public static JmxMetrics register(String type, String name, MetricSource source) {
        Objects.requireNonNull(source, "source");
        try {
            ObjectName full = new ObjectName("io.rdmacm:type=" + type + ",name=" + ObjectName.quote(name));
            if (full.isPattern()) {
                throw new IllegalArgumentException(full + " is the name of no MBean, but a pattern");
            }
            var ignored = server().registerMBean(new Bean(source), full);
            return new JmxMetrics(full);
        } catch (InstanceAlreadyExistsException e) {
            throw new IllegalStateException("another MBean of type " + type + " has the name " + name, e);
        } catch (JMException e) {
            throw new IllegalArgumentException(e);
        }
    }

    private static MBeanServer server() {
        return ManagementFactory.getPlatformMBeanServer();
    }

    /** {@return the name of the MBean, {@code io.rdmacm:type=TYPE,name="NAME"}} */
    public ObjectName name() {
        return name;
    }

    /** Removes the MBean. Has no effect when called again. */
    @Override
    public void close() {
        try {
            server().unregisterMBean(name);
        } catch (InstanceNotFoundException e) {
            // closed before, or removed by the program
        } catch (JMException e) {
            throw new IllegalStateException(e);
        }
    }

    /** An attribute for each number, to be read only. */
    private record Bean(MetricSource source) implements DynamicMBean {
        @Override
        public Object getAttribute(String attribute) throws AttributeNotFoundException {
            Long value = source.metrics().get(attribute);
            if (value == null) {
                throw new AttributeNotFoundException(attribute);
            }
            return value;
        }

        @Override
        public AttributeList getAttributes(String[] attributes) {
            Map<String, Long> metrics = source.metrics();
            AttributeList list = new AttributeList();
            for (String attribute : attributes) {
                if (metrics.containsKey(attribute)) {
                    list.add(new Attribute(attribute, metrics.get(attribute)));
                }
            }
            return list;
        }

        @Override
        public void setAttribute(Attribute attribute) throws AttributeNotFoundException {
            throw new AttributeNotFoundException(attribute.getName() + " cannot be set");
        }

        @Override
        public AttributeList setAttributes(AttributeList attributes) {
            return new AttributeList();
        }

        @Override
        public Object invoke(String action, Object[] arguments, String[] signature) {
            throw new UnsupportedOperationException(action);
        }

        @Override
        public MBeanInfo getMBeanInfo() {
            MBeanAttributeInfo[] attributes = source.metrics().keySet().stream()
                    .map(name -> new MBeanAttributeInfo(name, "long", name, true, false, false))
                    .toArray(MBeanAttributeInfo[]::new);
            return new MBeanInfo(source.getClass().getName(), source.getClass().getSimpleName(), attributes, null,
                    null, null);
        }
    }
}
