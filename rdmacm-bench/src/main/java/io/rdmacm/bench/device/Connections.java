// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;

import io.rdmacm.bench.device.ConnectionSetUp.Receives;
import io.rdmacm.bench.device.machine.CPrograms;
import io.rdmacm.bench.device.machine.Commands;
import io.rdmacm.bench.device.machine.Cpus;
import io.rdmacm.bench.device.machine.Port;
import io.rdmacm.bench.report.Result;
import io.rdmacm.bench.report.Side;
import io.rdmacm.bench.report.Summary;

/** Measures how fast connections are set up, by cmtime and by the library, with the same number and stages. */
final class Connections {
    /** The stages of setting up a connection, by their names in cmtime. */
    static final List<String> SET_UP = List.of("create id", "resolve addr", "resolve route", "create qp", "connect");

    private static final Duration LIMIT = Duration.ofMinutes(5);
    private static final Duration START = Duration.ofSeconds(60);
    private static final int POLL_MILLIS = 50;
    private static final int PORTS = 30_000;
    private static final int PORTS_COUNT = 10_000;
    private static final double MICROS_PER_SECOND = 1e6;
    private final InetAddress address;
    private final JavaBench java;
    private final Cpus cpus;
    private final CPrograms programs;
    private final Plan plan;
    private final Collector collector;

    private Connections(InetAddress address, JavaBench java, Cpus cpus, CPrograms programs, Plan plan,
            Collector collector) {
        this.address = address;
        this.java = java;
        this.cpus = cpus;
        this.programs = programs;
        this.plan = plan;
        this.collector = collector;
    }

    static void run(Port port, JavaBench java, Cpus cpus, CPrograms programs, Plan plan, Collector collector)
            throws IOException, InterruptedException {
        if (port.address() == null) {
            DeviceBenchmark.say("connections are not measured: the port has no IPv4 address");
            return;
        }
        new Connections(port.address(), java, cpus, programs, plan, collector).run();
    }

    private void run() throws IOException, InterruptedException {
        Path output = Files.createTempFile("rdmacm-bench", ".server");
        Map<Receives, Cmtime> c = new EnumMap<>(Receives.class);
        try {
            for (Receives receives : Receives.values()) {
                c.put(receives, startCmtime(receives, output));
            }
            PeerProcess client = java.client();
            java.server().send("listen " + address.getHostAddress());
            String establish = "establish " + address.getHostAddress() + " " + java.server().receive("port") + " "
                    + plan.connections();
            Map<Receives, String> connectAll = new EnumMap<>(Receives.class);
            for (Receives receives : Receives.values()) {
                java.server().send("accept " + receives.id() + " " + address.getHostAddress());
                connectAll.put(receives, "connectall " + receives.id() + " " + address.getHostAddress() + " "
                        + java.server().receive("port") + " " + plan.connections());
            }
            for (int i = 0; i < plan.connectionWarmUp(); i++) {
                establish(client, establish);
                for (String command : connectAll.values()) {
                    connectAll(client, command);
                }
            }
            for (int round = 0; round < plan.trialRounds(); round++) {
                add(Side.JAVA, round, establish(client, establish));
                for (Receives receives : Receives.values()) {
                    Map<String, Double> stages = connect(c.get(receives));
                    if (receives == Receives.SHARED) {
                        add(Side.C, round, stages);
                    }
                    addManaged(Side.C, receives, round, setUp(stages));
                    addManaged(Side.JAVA, receives, round, connectAll(client, connectAll.get(receives)));
                }
            }
            Map<String, Object> params = Map.of("connections", plan.connections());
            DeviceBenchmark.say("%d connections: %s", plan.connections(),
                    collector.text("connect", Summary.RATE, params, "/s"));
            for (Receives receives : Receives.values()) {
                DeviceBenchmark.say("connection set-up, %s: %s", receives.id(),
                        collector.text(Summary.CONNECTION_SET_UP, Summary.RATE, Map.of("by", receives.id()), "/s"));
            }
        } finally {
            for (Cmtime server : c.values()) {
                server.process().destroyForcibly().waitFor();
            }
            Files.delete(output);
        }
    }

    /** A server of cmtime, and the environment of its clients. */
    private record Cmtime(Process process, int port, Map<String, String> environment) { }

    private Cmtime startCmtime(Receives receives, Path output) throws IOException, InterruptedException {
        int port = PORTS + ThreadLocalRandom.current().nextInt(PORTS_COUNT);
        Map<String, String> environment = receives.posted() == 0 ? Map.of() : Map.of("LD_PRELOAD",
                programs.receiving().toString(), "RDMACM_RECEIVES", Integer.toString(receives.posted()));
        Process server = Commands.start(environment, output, command(cpus.server(), "cmtime", "-b",
                address.getHostAddress(), "-p", Integer.toString(port)));
        awaitListener(server, port, output);
        return new Cmtime(server, port, environment);
    }

    private static Map<String, Double> establish(PeerProcess client, String establish)
            throws IOException, InterruptedException {
        client.send(establish);
        Map<String, Double> stages = new LinkedHashMap<>();
        for (String stage : client.receive("stages").split(", ")) {
            String[] parts = stage.split("=");
            stages.put(parts[0], Double.parseDouble(parts[1]));
        }
        return stages;
    }

    private static double connectAll(PeerProcess client, String command) throws IOException, InterruptedException {
        client.send(command);
        return Double.parseDouble(client.receive("took"));
    }

    private Map<String, Double> connect(Cmtime server) throws IOException, InterruptedException {
        return CmtimeOutput.stages(Commands.run(LIMIT, server.environment(), command(cpus.client(), "cmtime", "-s",
                address.getHostAddress(), "-p", Integer.toString(server.port()), "-c",
                Integer.toString(plan.connections()))));
    }

    private static List<String> command(List<String> prefix, String... words) {
        return Stream.concat(prefix.stream(), Stream.of(words)).toList();
    }

    private static void awaitListener(Process server, int port, Path output)
            throws IOException, InterruptedException {
        long end = System.nanoTime() + START.toNanos();
        String wanted = ":" + port + " ";
        while (Commands.run(LIMIT, Map.of(), List.of("rdma", "resource", "show", "cm_id")).lines()
                .noneMatch(line -> line.contains("state LISTEN") && (line + " ").contains(wanted))) {
            if (!server.isAlive() || System.nanoTime() - end > 0) {
                throw new IOException("cmtime does not listen: " + Files.readString(output).strip());
            }
            Thread.sleep(POLL_MILLIS);
        }
    }

    private void add(Side side, int round, Map<String, Double> stages) {
        Map<String, Object> params = Map.of("connections", plan.connections(), Result.ROUND, round);
        collector.add(new Result("connect", side, params, Summary.RATE, "1/s", MICROS_PER_SECOND / setUp(stages)));
        stages.forEach((stage, time) -> {
            Map<String, Object> of = new LinkedHashMap<>();
            of.put("stage", stage);
            of.putAll(params);
            collector.add(new Result("connect_stage", side, of, Summary.TIME, "us", time));
        });
    }

    private static double setUp(Map<String, Double> stages) {
        return SET_UP.stream().mapToDouble(stages::get).sum();
    }

    /** Adds the connections of a connection manager: cmtime, too, is measured from the first call to the last event. */
    private void addManaged(Side side, Receives by, int round, double micros) {
        Map<String, Object> params = new LinkedHashMap<>();
        params.put("by", by.id());
        params.put("connections", plan.connections());
        params.put(Result.ROUND, round);
        collector.add(new Result(Summary.CONNECTION_SET_UP, side, params, Summary.RATE, "1/s",
                MICROS_PER_SECOND / micros));
    }
}
