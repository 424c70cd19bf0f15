// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;

/** The acts that are played, each as often as its weight says. */
final class Repertoire {
    private static final int FAULT = 4;
    private static final int SABOTAGE = 20;

    private final List<Piece> pieces;
    private final int weights;

    private Repertoire(List<Piece> pieces) {
        this.pieces = List.copyOf(pieces);
        this.weights = pieces.stream().mapToInt(Piece::weight).sum();
    }

    /**
     * An act of the repertoire.
     *
     * @param weight how often it is played, compared with the others
     */
    record Piece(String name, int weight, Act act) {
    }

    /** Nothing but connecting, one transfer, and closing. */
    static Repertoire cycles() {
        return new Repertoire(List.of(
                new Piece("messages", 1, new Messages(1)),
                new Piece("endpoints", 1, new Endpoints(1)),
                new Piece("verbs", 1, new Transfers(1))));
    }

    /** All that goes well, and all that goes wrong but should not hurt. */
    static Repertoire everything() {
        return new Repertoire(all());
    }

    /**
     * Some of all, and of the acts of {@link Sabotage}.
     *
     * @throws IllegalArgumentException when there is none of a name
     */
    static Repertoire of(List<String> names) {
        Map<String, Piece> known = new LinkedHashMap<>();
        all().forEach(piece -> known.put(piece.name, piece));
        for (Sabotage sabotage : Sabotage.values()) {
            known.put(sabotage.toString(), new Piece(sabotage.toString(), SABOTAGE, sabotage));
        }
        List<Piece> chosen = new ArrayList<>();
        for (String name : names) {
            if (!known.containsKey(name)) {
                throw new IllegalArgumentException("there is no act '" + name + "', there are "
                        + String.join(", ", known.keySet()));
            }
            chosen.add(known.get(name));
        }
        return new Repertoire(chosen);
    }

    private static List<Piece> all() {
        List<Piece> all = new ArrayList<>(List.of(
                new Piece("messages", 40, new Messages(40)),
                new Piece("endpoints", 40, new Endpoints(20)),
                new Piece("verbs", 80, new Transfers(60)),
                new Piece("batches", 20, new Batches()),
                new Piece("regions", 20, new Regions()),
                new Piece("windows", 20, new Windows()),
                new Piece("shared-receives", 10, new SharedReceives()),
                new Piece("datagrams", 20, new Datagrams()),
                new Piece("groups", 10, new Groups()),
                new Piece("killed-peer", 1, new KilledPeer())));
        List<Act> faults = new ArrayList<>();
        faults.addAll(List.of(MessageFault.values()));
        faults.addAll(List.of(EndpointFault.values()));
        faults.addAll(List.of(VerbsFault.values()));
        for (Act fault : faults) {
            all.add(new Piece(fault.toString(), FAULT, fault));
        }
        return all;
    }

    /** Each once. */
    List<Piece> pieces() {
        return pieces;
    }

    /** One of them. */
    Piece choose(RandomGenerator random) {
        int at = random.nextInt(weights);
        for (Piece piece : pieces) {
            at -= piece.weight;
            if (at < 0) {
                return piece;
            }
        }
        throw new AssertionError("the weights do not add up");
    }
}
