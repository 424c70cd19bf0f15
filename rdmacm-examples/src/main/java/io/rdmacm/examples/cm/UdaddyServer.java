// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.EventChannel;
import io.rdmacm.examples.support.Console;
import io.rdmacm.examples.support.PeerTimeout;
import io.rdmacm.examples.support.Resources;

/** The server of udaddy: creates a queue pair per connection, and answers the datagrams that arrive there. */
final class UdaddyServer {
    private final Udaddy options;
    private final Console console;

    UdaddyServer(Udaddy options, Console console) {
        this.options = options;
        this.console = console;
    }

    void run() throws IOException, InterruptedException {
        console.print("udaddy: starting server");
        try (Resources open = new Resources()) {
            EventChannel channel = open.add(EventChannel.open());
            CmId listener = open.add(CmId.open(channel, options.space()));
            listener.bindAddress(options.addressToListen().source().orElseThrow());
            listener.listen(0);
            // the target of a reply is known when the first message has arrived
            Map<DatagramNode, DatagramNode.Target> nodes = new LinkedHashMap<>();
            while (nodes.size() < options.connections()) {
                nodes.put(accept(channel, listener, open), null);
            }
            if (options.messages() > 0) {
                transfer(nodes, open);
            }
        }
    }

    /** Accepts a request. For datagrams this ends the handshake: it tells the peer the number of the queue pair. */
    private DatagramNode accept(EventChannel channel, CmId listener, Resources open)
            throws IOException, InterruptedException {
        try (CmEvent request = channel.await(listener, CmEventType.CONNECT_REQUEST, PeerTimeout.FOREVER)) {
            CmId id = open.add(request.id());
            DatagramNode node = options.node(id, open);
            node.postReceives();
            id.accept(ConnectionParameters.defaults());
            return node;
        }
    }

    private void transfer(Map<DatagramNode, DatagramNode.Target> nodes, Resources open)
            throws IOException, InterruptedException {
        console.print("receiving data transfers");
        for (DatagramNode node : nodes.keySet()) {
            node.await(false, true, options.timeout(), options.timeout(), received -> {
                if (nodes.get(node) == null) {
                    nodes.put(node, node.sender(received, open));
                }
            });
        }
        console.print("sending replies");
        for (Map.Entry<DatagramNode, DatagramNode.Target> node : nodes.entrySet()) {
            node.getKey().postSends(node.getValue());
        }
        for (DatagramNode node : nodes.keySet()) {
            node.await(true, false, options.timeout(), options.timeout(), received -> { });
        }
        console.print("data transfers complete");
    }
}
