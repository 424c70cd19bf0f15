// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;

/** The scenarios to choose from, each with a weight. */
final class ScenarioMix {
    private static final int LAYER = 15;
    private static final int FAULT = 4;
    private static final int BUG_WEIGHT = 20;

    private final List<Entry> entries;
    private final int weights;

    private ScenarioMix(List<Entry> entries) {
        this.entries = List.copyOf(entries);
        this.weights = entries.stream().mapToInt(Entry::weight).sum();
    }

    /**
     * A scenario with its name.
     *
     * @param weight how often it is chosen, compared with the others; 0 if it only runs before the clock starts
     */
    record Entry(String name, int weight, Scenario scenario) {
    }

    /** Returns the scenarios of {@code --cycles}: connect, one transfer, close. */
    static ScenarioMix cycles() {
        return new ScenarioMix(List.of(
                new Entry("messages", 1, new Messages(1)),
                new Entry("endpoints", 1, new Endpoints(1)),
                new Entry("verbs", 1, new Transfers(1))));
    }

    /** Returns all scenarios without faults, and all faults that the library must cope with. */
    static ScenarioMix everything() {
        return new ScenarioMix(all());
    }

    /**
     * Returns the scenarios of the given names, those of {@link InjectedBug} included.
     *
     * @throws IllegalArgumentException if a name is unknown
     */
    static ScenarioMix of(List<String> names) {
        Map<String, Entry> known = new LinkedHashMap<>();
        all().forEach(entry -> known.put(entry.name, entry));
        for (InjectedBug bug : InjectedBug.values()) {
            known.put(bug.toString(), new Entry(bug.toString(), BUG_WEIGHT, bug));
        }
        List<Entry> chosen = new ArrayList<>();
        for (String name : names) {
            if (!known.containsKey(name)) {
                throw new IllegalArgumentException("there is no scenario '" + name + "', there are "
                        + String.join(", ", known.keySet()));
            }
            chosen.add(known.get(name));
        }
        // What a layer opens once per process must be open when the clock starts.
        if (chosen.stream().map(Entry::scenario).anyMatch(scenario -> scenario instanceof AnyLayer
                || scenario instanceof BusyCarriers)) {
            chosen.addAll(layers(0));
        }
        return new ScenarioMix(chosen);
    }

    private static List<Entry> layers(int weight) {
        return Layer.ALL.stream().map(layer -> new Entry("echoed-" + layer, weight, new Exchanges(layer))).toList();
    }

    private static List<Entry> all() {
        List<Scenario> others = new ArrayList<>(List.of(new Messages(10), new HandledMessages(10), new Endpoints(10),
                new Transfers(10)));
        Layer.ALL.stream().map(Exchanges::new).forEach(others::add);
        List<Entry> all = new ArrayList<>(List.of(
                new Entry("messages", 40, new Messages(40)),
                new Entry("handlers", 40, new HandledMessages(40)),
                new Entry("endpoints", 40, new Endpoints(20)),
                new Entry("verbs", 80, new Transfers(60)),
                new Entry("batches", 20, new Batches()),
                new Entry("regions", 20, new Regions()),
                new Entry("windows", 20, new Windows()),
                new Entry("shared-receives", 10, new SharedReceives()),
                new Entry("datagrams", 20, new Datagrams()),
                new Entry("groups", 10, new Groups()),
                new Entry("busy-carriers", 10, new BusyCarriers(others)),
                new Entry("killed-peer", 1, new KilledPeer())));
        all.addAll(layers(LAYER));
        for (LimitedPeer limit : LimitedPeer.values()) {
            all.add(new Entry(limit.toString(), 1, limit));
        }
        List<Scenario> faults = new ArrayList<>();
        faults.addAll(List.of(MessageFault.values()));
        faults.addAll(List.of(EndpointFault.values()));
        faults.addAll(List.of(VerbsFault.values()));
        faults.addAll(List.of(HandlerFault.values()));
        faults.addAll(List.of(ClientFault.values()));
        faults.addAll(List.of(ServerFault.values()));
        faults.addAll(List.of(LayerFault.values()));
        for (Scenario fault : faults) {
            all.add(new Entry(fault.toString(), LayerFault.PROCESSES.contains(fault) ? 1 : FAULT, fault));
        }
        return all;
    }

    /** Returns all entries. */
    List<Entry> entries() {
        return entries;
    }

    /** Chooses one at random, by weight. */
    Entry choose(RandomGenerator random) {
        int at = random.nextInt(weights);
        for (Entry entry : entries) {
            at -= entry.weight;
            if (at < 0) {
                return entry;
            }
        }
        throw new AssertionError("the weights do not add up");
    }
}
