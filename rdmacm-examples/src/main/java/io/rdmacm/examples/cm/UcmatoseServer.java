// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.EventChannel;
import io.rdmacm.examples.support.Console;
import io.rdmacm.examples.support.PeerTimeout;
import io.rdmacm.examples.support.Resources;

/** The server of ucmatose: accepts all connections, sends on each, receives on each, and disconnects. */
final class UcmatoseServer {
    private final Ucmatose options;
    private final Console console;

    UcmatoseServer(Ucmatose options, Console console) {
        this.options = options;
        this.console = console;
    }

    void run() throws IOException, InterruptedException {
        console.print("cmatose: starting server");
        try (Resources open = new Resources()) {
            EventChannel channel = open.add(EventChannel.open());
            EventChannel second = options.migrates() ? open.add(EventChannel.open()) : null;
            CmId listener = open.add(CmId.open(channel, options.space()));
            listener.bindAddress(options.addressToListen().source().orElseThrow());
            listener.listen(0);
            List<UcmatoseNode> nodes = acceptAll(channel, listener, open);
            try (DisconnectHandler disconnects = new DisconnectHandler(channel, nodes.size())) {
                if (options.messages() > 0) {
                    transfer(nodes);
                }
                if (second != null) {
                    console.print("migrating to new event channel");
                    listener.migrate(second);
                    disconnects.migrate(nodes.stream().map(UcmatoseNode::id).toList(), second);
                    channel.close();
                }
                console.print("cmatose: disconnecting");
                for (UcmatoseNode node : nodes) {
                    node.id().disconnect();
                }
                disconnects.await(options.timeout());
                console.print("disconnected");
            }
        }
    }

    private List<UcmatoseNode> acceptAll(EventChannel channel, CmId listener, Resources open)
            throws IOException, InterruptedException {
        List<UcmatoseNode> nodes = new ArrayList<>();
        while (nodes.size() < options.connections()) {
            try (CmEvent request = channel.await(listener, CmEventType.CONNECT_REQUEST, PeerTimeout.FOREVER)) {
                CmId id = open.add(request.id());
                UcmatoseNode node = new UcmatoseNode(id, options, open);
                options.setAckTimeout(id);
                node.postReceives();
                node.accept();
                nodes.add(node);
            }
        }
        for (UcmatoseNode node : nodes) {
            node.awaitEstablished();
        }
        return nodes;
    }

    private void transfer(List<UcmatoseNode> nodes) throws IOException, InterruptedException {
        console.print("initiating data transfers");
        for (UcmatoseNode node : nodes) {
            node.postSends();
        }
        console.print("completing sends");
        for (UcmatoseNode node : nodes) {
            node.awaitSends();
        }
        console.print("receiving data transfers");
        for (UcmatoseNode node : nodes) {
            node.awaitReceives();
        }
        console.print("data transfers complete");
    }
}
