// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.forked;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.channels.UnsupportedAddressTypeException;
import java.nio.channels.spi.SelectorProvider;

import io.rdmacm.core.nio.RdmaSelectorProvider;

/** Opens and binds channels for IPv6 as a program does that is started with {@code java.net.preferIPv4Stack}. */
public final class OnlyIpv4 {
    private OnlyIpv4() {
    }

    /** Something that is refused. */
    @FunctionalInterface
    private interface Attempt {
        void run() throws IOException;
    }

    private static void refused(Class<?> by, Attempt attempt) throws IOException {
        try {
            attempt.run();
        } catch (UnsupportedOperationException | UnsupportedAddressTypeException e) {
            System.out.println(by.isInstance(e));
        }
    }

    /** Tries it with the channels of the JDK, and with those over RDMA. */
    public static void main(String[] arguments) throws IOException {
        InetSocketAddress six = new InetSocketAddress(InetAddress.ofLiteral("fd99::1"), 0);
        for (SelectorProvider provider : new SelectorProvider[] {SelectorProvider.provider(),
                RdmaSelectorProvider.instance()}) {
            refused(UnsupportedOperationException.class,
                    () -> provider.openSocketChannel(StandardProtocolFamily.INET6));
            refused(UnsupportedOperationException.class,
                    () -> provider.openServerSocketChannel(StandardProtocolFamily.INET6));
            refused(UnsupportedAddressTypeException.class, () -> provider.openSocketChannel().bind(six));
            refused(UnsupportedAddressTypeException.class, () -> provider.openSocketChannel().connect(six));
            refused(UnsupportedAddressTypeException.class, () -> provider.openServerSocketChannel().bind(six));
        }
    }
}
