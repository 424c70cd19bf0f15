// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import org.jspecify.annotations.Nullable;

/**
 * What somebody wants for some addresses and ports: a line of a file of rules, such as
 * {@code deny listen 10.1.0.0/16 8080,9000-9099}.
 *
 * @param action what is wanted
 * @param connects whether it is for connections of clients
 * @param listens whether it is for servers
 * @param network the addresses, null for all
 * @param ports the ports, empty for all
 * @param text the line
 */
record Rule(Action action, boolean connects, boolean listens, @Nullable Network network, List<Range> ports,
        String text) {
    private static final int FIELDS = 4;
    private static final int LAST_PORT = 0xFFFF;

    /** What a rule can want. */
    enum Action {
        /** RDMA where it is possible, and TCP otherwise. */
        ALLOW,
        /** TCP. */
        DENY,
        /** RDMA, or a failure. */
        ONLY
    }

    /** Ports from the first to the last one. */
    private record Range(int first, int last) {
    }

    /** Parses the lines of a file. */
    static List<Rule> parse(List<String> lines) {
        List<Rule> rules = new ArrayList<>();
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i).replaceFirst("#.*", "").strip();
            if (!line.isEmpty()) {
                try {
                    rules.add(parse(line));
                } catch (IllegalArgumentException e) {
                    throw new IllegalArgumentException("line " + (i + 1) + ": " + e.getMessage(), e);
                }
            }
        }
        return List.copyOf(rules);
    }

    /** Parses a line. */
    static Rule parse(String line) {
        String[] fields = line.split("\\s+");
        if (fields.length != FIELDS) {
            throw new IllegalArgumentException("\"" + line + "\" is not ACTION DIRECTION ADDRESS PORT");
        }
        Action action = switch (fields[0].toLowerCase(Locale.ROOT)) {
            case "allow" -> Action.ALLOW;
            case "deny" -> Action.DENY;
            case "only" -> Action.ONLY;
            default -> throw new IllegalArgumentException("\"" + fields[0] + "\" is not allow, deny or only");
        };
        String direction = fields[1].toLowerCase(Locale.ROOT);
        if (!List.of("connect", "listen", "both").contains(direction)) {
            throw new IllegalArgumentException("\"" + fields[1] + "\" is not connect, listen or both");
        }
        return new Rule(action, !direction.equals("listen"), !direction.equals("connect"),
                fields[2].equals("*") ? null : Network.parse(fields[2]), ports(fields[3]), String.join(" ", fields));
    }

    private static List<Range> ports(String text) {
        List<Range> ports = new ArrayList<>();
        if (!text.equals("*")) {
            for (String part : text.split(",", -1)) {
                String[] ends = part.split("-", 2);
                int first = port(ends[0]);
                int last = port(ends[ends.length - 1]);
                if (last < first) {
                    throw new IllegalArgumentException("\"" + part + "\" ends before it begins");
                }
                ports.add(new Range(first, last));
            }
        }
        return ports;
    }

    private static int port(String text) {
        int port = text.matches("\\d{1,5}") ? Integer.parseInt(text) : -1;
        if (port < 0 || port > LAST_PORT) {
            throw new IllegalArgumentException("\"" + text + "\" is not a port");
        }
        return port;
    }

    /** Returns whether this rule is for an address: that of a server to connect to, or that a server is bound to. */
    boolean isFor(boolean listening, InetSocketAddress address) {
        return (listening ? listens : connects) && (network == null || network.contains(address.getAddress()))
                && (ports.isEmpty() || ports.stream().anyMatch(
                        range -> address.getPort() >= range.first && address.getPort() <= range.last));
    }

    /**
     * The addresses that begin with the same bits.
     *
     * @param address one of them
     * @param prefix the number of bits
     */
    record Network(InetAddress address, int prefix) {
        /** Parses an address, or one with a prefix length. Never asks a name server. */
        static Network parse(String text) {
            String[] parts = text.split("/", 2);
            InetAddress address = InetAddress.ofLiteral(parts[0]);
            int bits = address.getAddress().length * Byte.SIZE;
            int prefix = parts.length == 1 ? bits : parts[1].matches("\\d{1,3}") ? Integer.parseInt(parts[1]) : -1;
            if (prefix < 0 || prefix > bits) {
                throw new IllegalArgumentException("\"" + text + "\" has no prefix length of 0 to " + bits);
            }
            return new Network(address, prefix);
        }

        boolean contains(InetAddress other) {
            byte[] one = address.getAddress();
            byte[] two = other.getAddress();
            if (one.length != two.length) {
                return false;
            }
            for (int bit = 0; bit < prefix; bit++) {
                int mask = 1 << Byte.SIZE - 1 - bit % Byte.SIZE;
                if (((one[bit / Byte.SIZE] ^ two[bit / Byte.SIZE]) & mask) != 0) {
                    return false;
                }
            }
            return true;
        }
    }
}
