// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.rdmacm.core.AddressInfo;
import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.EventChannel;
import io.rdmacm.examples.support.Console;
import io.rdmacm.examples.support.Resources;

/** The client of udaddy: asks the server for its queue pairs, sends to them, and receives the replies. */
final class UdaddyClient {
    private static final Duration RESOLVE_TIMEOUT = Duration.ofSeconds(2);

    private final Udaddy options;
    private final Console console;

    UdaddyClient(Udaddy options, Console console) {
        this.options = options;
        this.console = console;
    }

    void run() throws IOException, InterruptedException {
        console.print("udaddy: starting client");
        try (Resources open = new Resources()) {
            EventChannel channel = open.add(EventChannel.open());
            Map<DatagramNode, DatagramNode.Target> nodes = connectAll(channel, open);
            if (options.messages() > 0) {
                transfer(nodes);
            }
        }
    }

    private Map<DatagramNode, DatagramNode.Target> connectAll(EventChannel channel, Resources open)
            throws IOException, InterruptedException {
        AddressInfo address = options.addressToConnect();
        console.print("udaddy: connecting");
        List<CmId> ids = new ArrayList<>();
        while (ids.size() < options.connections()) {
            CmId id = open.add(CmId.open(channel, options.space()));
            id.resolveAddress(address.source().orElse(null), address.destination().orElseThrow(), RESOLVE_TIMEOUT);
            ids.add(id);
        }
        for (CmId id : ids) {
            channel.await(id, CmEventType.ADDR_RESOLVED, options.timeout()).close();
            options.setTypeOfService(id);
            id.resolveRoute(RESOLVE_TIMEOUT);
        }
        List<DatagramNode> asking = new ArrayList<>();
        for (CmId id : ids) {
            channel.await(id, CmEventType.ROUTE_RESOLVED, options.timeout()).close();
            DatagramNode node = options.node(id, open);
            node.postReceives();
            id.connect(ConnectionParameters.builder().privateData(address.connectData()).build());
            asking.add(node);
        }
        Map<DatagramNode, DatagramNode.Target> nodes = new LinkedHashMap<>();
        for (DatagramNode node : asking) {
            try (CmEvent answer = channel.await(node.id(), CmEventType.ESTABLISHED, options.timeout())) {
                nodes.put(node, node.target(answer.datagramParameters(), open));
            }
        }
        return nodes;
    }

    private void transfer(Map<DatagramNode, DatagramNode.Target> nodes) throws IOException, InterruptedException {
        console.print("initiating data transfers");
        for (Map.Entry<DatagramNode, DatagramNode.Target> node : nodes.entrySet()) {
            node.getKey().postSends(node.getValue());
        }
        console.print("receiving data transfers");
        for (DatagramNode node : nodes.keySet()) {
            node.await(true, true, options.timeout(), options.timeout(), received -> { });
        }
        console.print("data transfers complete");
    }
}
