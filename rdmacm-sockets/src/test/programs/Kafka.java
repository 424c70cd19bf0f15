// SPDX-License-Identifier: Apache-2.0
// Runs with org.apache.kafka:kafka_2.13:4.1.0

import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Future;

import kafka.tools.StorageTool;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.IntegerDeserializer;
import org.apache.kafka.common.serialization.IntegerSerializer;

/**
 * Three Kafka brokers with replication, each in a JVM of its own, and a client. With {@code -Dmixed=true}, the last
 * broker is without the agent. With {@code -Dhosts=ADDRESS,ADDRESS,ADDRESS}, they are on several hosts, each of which
 * starts its own.
 */
public final class Kafka implements Program {
    private static final int BROKERS = 3;
    private static final int PORT = 19_090;

    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("broker")) {
            broker(Path.of(arguments[1]));
        } else {
            Program.run(new Kafka(), arguments);
        }
    }

    private static void broker(Path configuration) throws Exception {
        StorageTool.execute(new String[] {"format", "-t", "MkU3OEVBNTcwNTJENDM2Qk", "-c", configuration.toString()},
                System.err);
        kafka.Kafka.main(new String[] {configuration.toString()});
    }

    private static List<String> hosts(String address) {
        String hosts = System.getProperty("hosts");
        return hosts == null ? Collections.nCopies(BROKERS, address) : List.of(hosts.split(","));
    }

    @Override
    public int serve(String address) throws Exception {
        List<String> command = new ArrayList<>(List.of(System.getProperty("java.home") + "/bin/java"));
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Kafka.class.getName(), "broker"));
        List<String> hosts = hosts(address);
        StringBuilder voters = new StringBuilder();
        for (int id = 0; id < BROKERS; id++) {
            voters.append(id == 0 ? "" : ",").append("%d@%s:%d".formatted(id, hosts.get(id), PORT + BROKERS + id));
        }
        Path folder = Files.createTempDirectory("kafka");
        for (int id = 0; id < BROKERS; id++) {
            if (!hosts.get(id).equals(address)) {
                continue;
            }
            Path configuration = folder.resolve(id + ".properties");
            // With limits for a slow machine, on which a broker would end in silence.
            Files.writeString(configuration, """
                    node.id=%d
                    process.roles=broker,controller
                    controller.quorum.voters=%s
                    controller.listener.names=CONTROLLER
                    listeners=PLAINTEXT://%s:%d,CONTROLLER://%s:%d
                    log.dirs=%s
                    initial.broker.registration.timeout.ms=600000
                    controller.quorum.election.timeout.ms=20000
                    controller.quorum.fetch.timeout.ms=40000
                    controller.quorum.request.timeout.ms=40000
                    broker.session.timeout.ms=60000
                    min.insync.replicas=2
                    offsets.topic.num.partitions=1
                    offsets.topic.replication.factor=3
                    group.initial.rebalance.delay.ms=0
                    num.network.threads=1
                    num.io.threads=2
                    log.cleaner.dedupe.buffer.size=4000000
                    log.segment.bytes=16000000
                    log.segment.delete.delay.ms=1000
                    log.retention.bytes=32000000
                    log.retention.check.interval.ms=2000
                    """.formatted(id, voters, address, PORT + id, address, PORT + BROKERS + id,
                    folder.resolve("log" + id)));
            List<String> broker = new ArrayList<>(command);
            if (Boolean.getBoolean("mixed") && id == BROKERS - 1) {
                broker.removeIf(option -> option.startsWith("-javaagent:"));
            }
            broker.add(configuration.toString());
            Process process = new ProcessBuilder(broker).redirectErrorStream(true)
                    .redirectOutput(folder.resolve(id + ".out").toFile()).start();
            Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
        }
        return PORT;
    }

    /** Fails as long as one broker has less than the others. */
    private static boolean replicated(Admin admin, String topic) throws Exception {
        for (TopicPartitionInfo partition : admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic)
                .partitions()) {
            if (partition.isr().size() < BROKERS) {
                throw new IllegalStateException(partition.toString());
            }
        }
        return true;
    }

    @Override
    public Client client(String address, int port) throws Exception {
        String topic = "topic-" + ProcessHandle.current().pid();
        List<String> hosts = hosts(address);
        String servers = "%s:%d,%s:%d".formatted(hosts.get(0), port, hosts.get(1), port + 1);
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", servers))) {
            // On a slow machine, it may be created although the answer came too late.
            Program.eventually(() -> admin.listTopics().names().get().contains(topic) ? topic
                    : admin.createTopics(List.of(new NewTopic(topic, 3, (short) BROKERS))).all().get());
        }
        // Longer than it takes until a broker that was killed is missed.
        var producer = new KafkaProducer<>(Map.of("bootstrap.servers", servers, "delivery.timeout.ms", 600_000),
                new IntegerSerializer(), new ByteArraySerializer());
        var consumer = new KafkaConsumer<>(Map.of("bootstrap.servers", servers, "group.id", topic,
                "auto.offset.reset", "earliest"), new IntegerDeserializer(), new ByteArrayDeserializer());
        consumer.subscribe(Set.of(topic));
        return new Client() {
            private int sent;

            @Override
            public void exchange(byte[] data, int times) throws Exception {
                List<Future<RecordMetadata>> sending = new ArrayList<>();
                Set<Integer> awaited = new HashSet<>();
                for (int i = 0; i < times; i++) {
                    awaited.add(sent);
                    sending.add(producer.send(new ProducerRecord<>(topic, sent++, data)));
                }
                for (Future<RecordMetadata> one : sending) {
                    one.get();
                }
                while (!awaited.isEmpty()) {
                    for (ConsumerRecord<Integer, byte[]> record : consumer.poll(Duration.ofSeconds(1))) {
                        // When a broker has been killed, some may come once more.
                        if (awaited.remove(record.key())) {
                            Program.check(data, record.value());
                        }
                    }
                }
            }

            @Override
            public void complete() throws Exception {
                try (Admin admin = Admin.create(Map.of("bootstrap.servers", servers))) {
                    Program.eventually(() -> replicated(admin, topic));
                }
                Set<Integer> kept = new HashSet<>();
                consumer.seekToBeginning(consumer.assignment());
                while (kept.size() < sent) {
                    consumer.poll(Duration.ofSeconds(1)).forEach(record -> kept.add(record.key()));
                }
            }

            @Override
            public void close() {
                producer.close();
                consumer.close();
            }
        };
    }
}
