// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

/** Chooses for each connection and each server whether it is to be over RDMA. */
final class Choice {
    // Well-known services, which firewalls are written for, and their clients are seldom programs with RDMA.
    private static final int FIRST_ORDINARY_PORT = 1024;
    // More failures than that are forgotten early.
    private static final int MOST_REMEMBERED = 10_000;

    private final Settings settings;
    private final DeviceNetworks networks;
    private final Map<InetSocketAddress, Failure> failures = new ConcurrentHashMap<>();

    Choice(Settings settings, DeviceNetworks networks) {
        this.settings = settings;
        this.networks = networks;
    }

    /** Which way to try. */
    enum Way {
        /** TCP only. */
        TCP,
        /** RDMA, and TCP where that fails; servers serve both. */
        EITHER,
        /** RDMA only. */
        RDMA
    }

    /**
     * What was chosen.
     *
     * @param way which way
     * @param reason why, for people
     */
    record Decision(Way way, String reason) {
        boolean isTcp() {
            return way == Way.TCP;
        }

        boolean isRdmaOnly() {
            return way == Way.RDMA;
        }
    }

    private record Failure(String reason, long until) {
    }

    /** Chooses for a client. */
    Decision toConnect(SocketAddress remote) {
        if (!(remote instanceof InetSocketAddress address) || address.isUnresolved()) {
            return tcp("not an internet address");
        }
        InetAddress host = address.getAddress();
        if (host.isLoopbackAddress() || host.isAnyLocalAddress()) {
            return tcp("loopback");
        }
        Rule rule = find(false, address);
        if (rule != null && rule.action() != Rule.Action.ALLOW) {
            return of(rule);
        }
        Failure failure = failures.get(address);
        if (failure != null) {
            if (failure.until() - System.nanoTime() > 0) {
                return tcp(failure.reason());
            }
            failures.remove(address, failure);
        }
        // Somebody knows of a network that is reached through a router.
        if (rule != null && rule.network() != null) {
            return of(rule);
        }
        if (rule == null && address.getPort() < FIRST_ORDINARY_PORT) {
            return tcp("a port below " + FIRST_ORDINARY_PORT);
        }
        DeviceNetworks.Of network = networks.find(host);
        return network == null ? tcp("not on a network of an RDMA device")
                : new Decision(Way.EITHER, "on the network of " + network.device());
    }

    /** Chooses for a server that is to be bound to an address; null stands for any address and port. */
    Decision toListen(@Nullable SocketAddress local) {
        SocketAddress wanted = local == null ? new InetSocketAddress(0) : local;
        if (!(wanted instanceof InetSocketAddress address) || address.isUnresolved()) {
            return tcp("not an internet address");
        }
        InetAddress host = address.getAddress();
        if (!host.isAnyLocalAddress() && !networks.isOwn(host)) {
            return tcp("not an address of an RDMA device");
        }
        Rule rule = find(true, address);
        if (rule != null) {
            return of(rule);
        }
        if (address.getPort() != 0 && address.getPort() < FIRST_ORDINARY_PORT) {
            return tcp("a port below " + FIRST_ORDINARY_PORT);
        }
        return networks.isEmpty() ? tcp("no network of an RDMA device")
                : new Decision(Way.EITHER, host.isAnyLocalAddress() ? "all addresses" : "an address of an RDMA device");
    }

    private @Nullable Rule find(boolean listening, InetSocketAddress address) {
        for (Rule rule : settings.rules()) {
            if (rule.isFor(listening, address)) {
                return rule;
            }
        }
        return null;
    }

    private static Decision of(Rule rule) {
        Way way = switch (rule.action()) {
            case ALLOW -> Way.EITHER;
            case DENY -> Way.TCP;
            case ONLY -> Way.RDMA;
        };
        return new Decision(way, "rule \"" + rule.text() + "\"");
    }

    private static Decision tcp(String reason) {
        return new Decision(Way.TCP, reason);
    }

    /** Takes note of a server that cannot be reached over RDMA: it is not tried again for some time. */
    void failed(InetSocketAddress remote, String reason) {
        if (failures.size() >= MOST_REMEMBERED) {
            failures.clear();
        }
        failures.put(remote, new Failure(reason, System.nanoTime() + settings.memory().toNanos()));
    }

    /**
     * Returns how long a connect waits for RDMA before it tries TCP beside it.
     *
     * @param limit how long it may take, of which TCP gets half at least
     */
    Duration beside(Duration limit) {
        Duration half = limit.dividedBy(2);
        return half.compareTo(settings.beside()) < 0 ? half : settings.beside();
    }
}
