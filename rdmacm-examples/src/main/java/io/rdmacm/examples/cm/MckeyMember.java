// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.DatagramParameters;
import io.rdmacm.core.EventChannel;
import io.rdmacm.examples.support.Console;
import io.rdmacm.examples.support.EventThread;
import io.rdmacm.examples.support.PeerTimeout;
import io.rdmacm.examples.support.Resources;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.address.GlobalRoute;

/** A member of a multicast group: joins with all its queue pairs, then sends or receives, then leaves. */
final class MckeyMember {
    private static final Duration RESOLVE_TIMEOUT = Duration.ofSeconds(2);

    private final Mckey options;
    private final Console console;

    MckeyMember(Mckey options, Console console) {
        this.options = options;
        this.console = console;
    }

    void run() throws IOException, InterruptedException {
        console.print("mckey: starting " + (options.isSender() ? "client" : "server"));
        console.print("mckey: joining");
        // Closed in reverse order: each queue pair leaves the group before it is destroyed.
        try (Resources open = new Resources()) {
            EventChannel channel = open.add(EventChannel.open());
            Map<DatagramNode, DatagramNode.Target> nodes = joinAll(channel, open);
            try (EventThread events = EventThread.start(channel, this::report)) {
                Thread.sleep(options.pause());
                if (options.messages() > 0) {
                    transfer(nodes);
                }
                events.check();
            }
        }
    }

    private Map<DatagramNode, DatagramNode.Target> joinAll(EventChannel channel, Resources open)
            throws IOException, InterruptedException {
        List<CmId> ids = new ArrayList<>();
        while (ids.size() < options.connections()) {
            CmId id = open.add(CmId.open(channel, options.space()));
            if (options.source() != null) {
                id.bindAddress(options.source());
            }
            // Finds the device that reaches the group. With a GID, the bound address has already chosen it.
            if (options.isMapped()) {
                id.resolveAddress(options.group(), RESOLVE_TIMEOUT);
            }
            ids.add(id);
        }
        List<DatagramNode> joining = new ArrayList<>();
        for (CmId id : ids) {
            if (options.isMapped()) {
                channel.await(id, CmEventType.ADDR_RESOLVED, options.timeout()).close();
            }
            DatagramNode node = new DatagramNode(id, options.messages(), options.size(), open,
                    options.queuePairFlags());
            if (!options.isSender()) {
                node.postReceives();
            }
            open.add(id.joinMulticast(options.group(), options.role()));
            joining.add(node);
        }
        Map<DatagramNode, DatagramNode.Target> nodes = new LinkedHashMap<>();
        for (DatagramNode node : joining) {
            try (CmEvent joined = channel.await(node.id(), CmEventType.MULTICAST_JOIN, options.timeout())) {
                DatagramParameters parameters = joined.datagramParameters();
                AddressAttributes address = parameters.address().orElseThrow();
                console.print(String.format("mckey: joined dgid: %s mlid 0x%x sl %d",
                        address.globalRoute().map(GlobalRoute::destination).map(Object::toString).orElse("::"),
                        address.destinationLid(), address.serviceLevel()));
                nodes.put(node, node.target(parameters, open));
            }
        }
        return nodes;
    }

    private void transfer(Map<DatagramNode, DatagramNode.Target> nodes) throws IOException, InterruptedException {
        console.print(options.isSender() ? "initiating data transfers" : "receiving data transfers");
        if (options.isSender()) {
            for (Map.Entry<DatagramNode, DatagramNode.Target> node : nodes.entrySet()) {
                node.getKey().postSends(node.getValue());
            }
        }
        for (DatagramNode node : nodes.keySet()) {
            // A sender may be started at any time.
            node.await(options.isSender(), !options.isSender(), PeerTimeout.FOREVER, options.timeout(),
                    received -> { });
        }
        console.print("data transfers complete");
    }

    /** Prints the events of a membership after the join. */
    private void report(CmEvent event) throws IOException {
        if (event.type() == CmEventType.MULTICAST_ERROR || event.type() == CmEventType.ADDR_CHANGE) {
            console.print("mckey: event: " + event.type().nativeName() + ", status: " + event.status());
        }
    }
}
