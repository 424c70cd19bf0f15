// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmId;
import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.wait.Deadline;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the connections over one device share: a protection domain, a completion channel, and a thread that takes the
 * events of that channel. The thread only wakes the threads that wait on a connection; these poll the completions.
 */
final class DeviceResources {
    private static final Logger LOG = LoggerFactory.getLogger(DeviceResources.class);

    private final EventLoop loop;
    private final ProtectionDomain domain;
    private final CompletionChannel channel;
    // librdmacm keeps a device open only as long as an id is bound to it
    private final CmId anchor;
    private final Thread thread;
    private final Map<CompletionQueue, Runnable> wakers = new ConcurrentHashMap<>();

    private DeviceResources(EventLoop loop, CmId anchor, ProtectionDomain domain, CompletionChannel channel) {
        this.loop = loop;
        this.anchor = anchor;
        this.domain = domain;
        this.channel = channel;
        this.thread = Thread.ofPlatform().daemon()
                .name("rdmacm-completions-" + domain.context().deviceName()).unstarted(this::run);
    }

    /** Creates the resources for the device that an id is bound to. */
    static DeviceResources create(EventLoop loop, CmId id) throws RdmaException {
        CmId anchor = loop.open(new Ignored());
        ProtectionDomain domain = null;
        CompletionChannel channel = null;
        try {
            anchor.bindAddress(new InetSocketAddress(id.localAddress().getAddress(), 0));
            VerbsContext context = id.context();
            domain = context.allocateProtectionDomain();
            channel = context.createCompletionChannel();
        } finally {
            if (channel == null) {
                if (domain != null) {
                    domain.close();
                }
                loop.close(anchor);
            }
        }
        DeviceResources resources = new DeviceResources(loop, anchor, domain, channel);
        resources.thread.start();
        return resources;
    }

    ProtectionDomain domain() {
        return domain;
    }

    /**
     * Creates a completion queue.
     *
     * @param waker run by the thread for each event of the queue; must be short
     */
    CompletionQueue createQueue(int capacity, Runnable waker) throws RdmaException {
        CompletionQueue queue = domain.context().createCompletionQueue(capacity, channel);
        wakers.put(queue, waker);
        return queue;
    }

    void close(CompletionQueue queue) throws RdmaException {
        queue.close();
        wakers.remove(queue);
    }

    /** Closes everything, after all connections; refused while the program has regions of the domain open. */
    void close() throws RdmaException {
        domain.close();
        channel.close();
        loop.close(anchor);
        // the thread ends, because it waits for nothing but the channel
        EventLoop.join(thread);
    }

    private void run() {
        while (channel.isOpen()) {
            try {
                Runnable waker = wakers.get(channel.getEvent(Deadline.FOREVER));
                if (waker != null) {
                    waker.run();
                }
            } catch (RdmaClosedException | IllegalStateException e) {
                return;
            } catch (InterruptedException e) {
                LOG.debug("ignored an interrupt", e);
            } catch (RdmaException e) {
                LOG.error("completion events can no longer be read", e);
                return;
            }
        }
    }

    /** Ignores the events of the anchor. */
    private static final class Ignored implements EventLoop.Handler {
        @Override
        public void handle(CmEvent event) {
        }

        @Override
        public void fail(RdmaException reason) {
        }
    }
}
