// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

import io.rdmacm.bench.device.machine.Port;
import io.rdmacm.bench.device.machine.Programs;
import io.rdmacm.bench.device.measure.Outcome;
import io.rdmacm.bench.device.measure.Outcome.Figure;
import io.rdmacm.bench.report.Summary;

/** The C side of setting up connections: {@code cmtime} of librdmacm, as a server and a client. */
final class Cmtime {
    // a stage, then the total, longest and shortest time, and the time per connection
    private static final Pattern STAGE =
            Pattern.compile("([a-z ]+?) *: +([0-9.]+) +([0-9.]+) +([0-9.]+) +([0-9.]+)");
    private static final int PER_CONNECTION = 5;
    /** The stages of setting up a connection, by their names in cmtime; others follow. */
    private static final List<String> SET_UP =
            List.of("create id", "resolve addr", "resolve route", "create qp", "connect");
    private static final double MICROS_PER_SECOND = 1e6;

    private Cmtime() {
    }

    /**
     * Measures the stages of so many connections at once.
     *
     * @param receive whether each posts a receive; cmtime itself posts none
     */
    static Outcome run(Port port, Programs programs, int connections, boolean receive)
            throws IOException, InterruptedException {
        Map<String, String> environment = !receive ? Map.of() : Map.of("LD_PRELOAD",
                programs.compiled("receive", "-shared", "-fPIC", "-ldl", "-libverbs").toString());
        String address = port.address().getHostAddress();
        String service = Programs.anyPort();
        return programs.besideServer(environment, List.of("cmtime", "-b", address, "-p", service),
                List.of("cmtime", "-s", address, "-p", service, "-c", Integer.toString(connections)),
                output -> outcome(stages(output)));
    }

    /** Returns the microseconds per connection of each stage. */
    static Map<String, Double> stages(String text) throws IOException {
        Map<String, Double> stages = new LinkedHashMap<>();
        for (String line : text.lines().map(String::strip).toList()) {
            if (line.contains("RDMA_CM_EVENT") || line.startsWith("failure")) {
                throw new IOException("cmtime: " + line);
            }
            var stage = STAGE.matcher(line);
            if (stage.matches()) {
                stages.put(stage.group(1), Double.parseDouble(stage.group(PER_CONNECTION)));
            }
        }
        if (!stages.keySet().containsAll(SET_UP)) {
            throw new IOException("no result in: " + text.strip());
        }
        return stages;
    }

    /** Returns how many connections are set up in a second, and the time of each stage. */
    static Outcome outcome(Map<String, Double> stages) {
        return rate(SET_UP.stream().mapToDouble(stages::get).sum())
                .and(new Outcome(stages.entrySet().stream().map(stage -> new Figure(Summary.CONNECT_STAGE,
                        Map.of("stage", stage.getKey()), Summary.TIME, Outcome.MICROS, stage.getValue())).toList()));
    }

    /** Returns how many connections are set up in a second, from the time of one. */
    static Outcome rate(double micros) {
        return Outcome.none().and(Summary.RATE, "1/s", MICROS_PER_SECOND / micros);
    }

    /** Returns an outcome without the stages. */
    static Outcome withoutStages(Outcome outcome) {
        return new Outcome(outcome.figures().stream().filter(figure -> figure.name().isEmpty()).toList());
    }
}
