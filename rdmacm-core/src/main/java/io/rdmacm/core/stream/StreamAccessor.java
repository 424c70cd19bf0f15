// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import java.net.InetSocketAddress;

import io.rdmacm.core.internal.access.StreamAccess;
import io.rdmacm.core.internal.engine.Wildcard;
import io.rdmacm.verbs.error.RdmaException;
import org.jspecify.annotations.Nullable;

/** The implementation of {@link StreamAccess}, which loads this class by name. */
final class StreamAccessor extends StreamAccess {
    static {
        register(new StreamAccessor());
    }

    private StreamAccessor() {
    }

    @Override
    public SharedQueues openQueues() throws RdmaException {
        return StreamLoop.open();
    }

    @Override
    public RdmaStream open(StreamSettings settings, SharedQueues queues, Runnable changed) throws RdmaException {
        return RdmaStream.create(settings, new StreamLink(settings), (StreamLoop) queues, changed);
    }

    @Override
    public void attach(RdmaStream stream, Runnable wake) {
        stream.core().attach(wake);
    }

    @Override
    public int file(RdmaStream stream) {
        return stream.core().queueFile();
    }

    @Override
    public RdmaStreamServer listen(InetSocketAddress local, int backlog, StreamSettings settings)
            throws RdmaException {
        return RdmaStreamServer.listen(Wildcard.ofBothFamilies(local), backlog, settings, true);
    }

    @Override
    public RdmaStreamServer listenExactly(InetSocketAddress local, int backlog, StreamSettings settings)
            throws RdmaException {
        return RdmaStreamServer.listen(local, backlog, settings, false);
    }

    @Override
    public @Nullable Request nextRequest(RdmaStreamServer server) throws RdmaException {
        StreamLink link = server.poll();
        return link == null ? null : new UnansweredRequest(server.settings(), link);
    }

    private record UnansweredRequest(StreamSettings settings, StreamLink link) implements Request {
        @Override
        public @Nullable InetSocketAddress localAddress() {
            return link.localAddress();
        }

        @Override
        public @Nullable InetSocketAddress peerAddress() {
            return link.peerAddress();
        }

        @Override
        public RdmaStream accept(SharedQueues queues, Runnable changed) throws RdmaException {
            RdmaStream stream = RdmaStream.create(settings, link, (StreamLoop) queues, changed);
            link.acceptLater();
            return stream;
        }

        @Override
        public void reject() {
            link.discardLater();
        }
    }
}
