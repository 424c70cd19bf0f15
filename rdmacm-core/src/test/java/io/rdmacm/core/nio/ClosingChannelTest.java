// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.nio;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.reflect.Field;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.core.internal.engine.CmLoop;
import io.rdmacm.core.testing.FakeRdmaCm;
import io.rdmacm.verbs.testing.Background;
import org.junit.jupiter.api.Test;

@FakeRdmaCm.With
class ClosingChannelTest {
    /** What a channel opens its stream with: whoever holds it decides when that goes on. */
    private static Object gate() throws ReflectiveOperationException {
        Field sharing = CmLoop.class.getDeclaredField("SHARING");
        sharing.setAccessible(true);
        return sharing.get(null);
    }

    /** A close holds a lock of the JDK, and wants the one of the channel. */
    @Test
    void aChannelIsClosedWhileItsConnectFails() throws Exception {
        InetSocketAddress somewhere = new InetSocketAddress(InetAddress.ofLiteral("192.0.2.1"), 7);
        SocketChannel channel = RdmaSelectorProvider.instance().openSocketChannel();
        Background<Boolean> connecting;
        Background<Void> closing;
        synchronized (gate()) {
            FakeRdmaCm.fail("rdma_create_event_channel", Rdma.EMFILE());
            connecting = Background.call(() -> channel.connect(somewhere)).awaitInside(CmLoop.class, "acquire")
                    .awaitWaiting();
            closing = Background.run(channel::close).awaitInside(RdmaSocketChannel.class,
                    "implCloseSelectableChannel").awaitWaiting();
        }
        assertThatThrownBy(connecting::result).isInstanceOf(IOException.class);
        closing.result();
    }
}
