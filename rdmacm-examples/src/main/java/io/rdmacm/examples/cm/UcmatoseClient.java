// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.rdmacm.core.AddressInfo;
import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.EventChannel;
import io.rdmacm.examples.support.Console;
import io.rdmacm.examples.support.Resources;

/**
 * The client of ucmatose: opens all connections, each step for all of them before the next; receives on each, sends on
 * each, and waits for the server to disconnect.
 */
final class UcmatoseClient {
    private static final Duration RESOLVE_TIMEOUT = Duration.ofSeconds(2);

    private final Ucmatose options;
    private final Console console;

    UcmatoseClient(Ucmatose options, Console console) {
        this.options = options;
        this.console = console;
    }

    void run() throws IOException, InterruptedException {
        console.print("cmatose: starting client");
        try (Resources open = new Resources()) {
            EventChannel channel = open.add(EventChannel.open());
            EventChannel second = options.migrates() ? open.add(EventChannel.open()) : null;
            List<UcmatoseNode> nodes = connectAll(channel, open);
            try (DisconnectHandler disconnects = new DisconnectHandler(channel, nodes.size())) {
                if (options.messages() > 0) {
                    transfer(nodes);
                }
                if (second != null) {
                    console.print("migrating to new event channel");
                    disconnects.migrate(nodes.stream().map(UcmatoseNode::id).toList(), second);
                    channel.close();
                }
                disconnects.await(options.timeout());
            }
        }
    }

    private List<UcmatoseNode> connectAll(EventChannel channel, Resources open)
            throws IOException, InterruptedException {
        AddressInfo address = options.addressToConnect();
        console.print("cmatose: connecting");
        List<CmId> ids = new ArrayList<>();
        while (ids.size() < options.connections()) {
            CmId id = open.add(CmId.open(channel, options.space()));
            id.resolveAddress(address.source().orElse(null), address.destination().orElseThrow(), RESOLVE_TIMEOUT);
            ids.add(id);
        }
        for (CmId id : ids) {
            channel.await(id, CmEventType.ADDR_RESOLVED, options.timeout()).close();
            options.setTypeOfService(id);
            options.setAckTimeout(id);
            id.resolveRoute(RESOLVE_TIMEOUT);
        }
        List<UcmatoseNode> nodes = new ArrayList<>();
        for (CmId id : ids) {
            channel.await(id, CmEventType.ROUTE_RESOLVED, options.timeout()).close();
            UcmatoseNode node = new UcmatoseNode(id, options, open);
            node.postReceives();
            node.connect(address.connectData());
            nodes.add(node);
        }
        for (UcmatoseNode node : nodes) {
            node.awaitEstablished();
        }
        return nodes;
    }

    private void transfer(List<UcmatoseNode> nodes) throws IOException, InterruptedException {
        console.print("receiving data transfers");
        for (UcmatoseNode node : nodes) {
            node.awaitReceives();
        }
        console.print("sending replies");
        for (UcmatoseNode node : nodes) {
            node.postSends();
        }
        console.print("data transfers complete");
    }
}
