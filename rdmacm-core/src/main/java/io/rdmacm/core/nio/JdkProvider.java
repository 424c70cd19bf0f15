// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.nio;

import java.nio.channels.spi.SelectorProvider;

/** The JDK's own provider, for what RDMA does not offer: pipes and datagrams. */
final class JdkProvider {
    private static final String CLASS = "sun.nio.ch.DefaultSelectorProvider";

    private JdkProvider() {
    }

    /**
     * Returns it.
     *
     * @throws UnsupportedOperationException if RdmaSelectorProvider is the provider of this JVM, and the package of the
     *         JDK's is not accessible
     */
    static SelectorProvider get() {
        SelectorProvider provider = SelectorProvider.provider();
        if (!(provider instanceof RdmaSelectorProvider)) {
            return provider;
        }
        try {
            return (SelectorProvider) Class.forName(CLASS).getMethod("get").invoke(null);
        } catch (ReflectiveOperationException e) {
            Module module = JdkProvider.class.getModule();
            throw new UnsupportedOperationException("the JDK's own pipes and datagram channels cannot be reached, "
                    + "because this JVM runs with -Djava.nio.channels.spi.SelectorProvider: add --add-exports "
                    + "java.base/sun.nio.ch=" + (module.isNamed() ? module.getName() : "ALL-UNNAMED"), e);
        }
    }
}
