// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

import com.sun.management.OperatingSystemMXBean;
import io.rdmacm.sockets.forked.FailedServersProgram;
import io.rdmacm.sockets.forked.FileTransfersProgram;
import io.rdmacm.sockets.forked.HttpProgram;
import io.rdmacm.sockets.forked.IsolatedProgram;
import io.rdmacm.sockets.forked.LocalProgram;
import io.rdmacm.sockets.forked.ManyChannelsProgram;
import io.rdmacm.sockets.forked.PlainEndsProgram;
import io.rdmacm.sockets.forked.PlainProgram;
import io.rdmacm.sockets.forked.ReturningProgram;
import io.rdmacm.sockets.forked.TlsProgram;
import io.rdmacm.verbs.testing.ForkedJvm;
import io.rdmacm.verbs.testing.Nightly;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Programs that know nothing of RDMA, in JVMs with the agent. */
@RequiresRdma
class AgentDeviceTest {
    private static final String ADDRESS = RdmaTestDevice.get().ipv4().getHostAddress();
    // What HttpProgram sends, in both directions.
    private static final int PACKETS = 8 * 300_000 / SentPackets.SIZE;

    // On a slow machine, TCP would often win.
    private static final String PATIENT = "=beside:240000";
    private static final long FOR_TEN_THOUSAND = 7L << 30;

    // Makes a root that has only what a JVM needs: $1 is an empty folder, $2 the JDK, and what follows up to "--" is
    // there as well. Then it runs the rest there, seen by nobody else.
    private static final String IN_A_ROOT = """
            set -e
            root=$1 jdk=$2
            shift
            mount -t tmpfs tmpfs "$root"
            for library in $(ldd "$jdk"/bin/java "$jdk"/lib/*/libjvm.so "$jdk"/lib/lib{java,net,nio,zip,instrument}.so |
                sed -n 's,.*[[:space:]]\\(/[^ ]*\\) (.*,\\1,p' | sort -u); do
                case $library in "$jdk"/*) continue ;; esac
                mkdir -p "$root${library%/*}"
                cp -L "$library" "$root$library"
            done
            mkdir "$root/tmp"
            while [ "$1" != -- ]; do
                if [ -d "$1" ]; then mkdir -p "$root$1"; else mkdir -p "$root${1%/*}" && touch "$root$1"; fi
                mount --rbind "$1" "$root$1"
                shift
            done
            shift
            exec chroot "$root" "$@"
            """;

    @TempDir
    private Path folder;

    private static void assertHttp(ForkedJvm jvm) throws Exception {
        AgentJar.assumeTakesDevice();
        Optional<Long> before = SentPackets.count();
        ForkedJvm.Result result = jvm.run("0.0.0.0", ADDRESS, "127.0.0.1");

        assertThat(result.status()).as(result.errors()).isZero();
        assertThat(result.output().lines()).hasSize(8).allMatch(line -> line.endsWith(" true"));
        assertThat(AgentJar.lines(result)).hasSize(1)
                .allMatch(line -> line.startsWith("rdmacm-sockets: INFO ") && line.contains(ADDRESS));
        if (before.isPresent()) {
            assertThat(SentPackets.count().orElseThrow() - before.get()).isGreaterThan(PACKETS);
        }
    }

    @Test
    void theHttpServerAndClientOfTheJdkGoOverRdma() throws Exception {
        assertHttp(ForkedJvm.of(HttpProgram.class).options("-javaagent:" + AgentJar.in(folder) + PATIENT));
    }

    @Test
    void overIwarpTheyStayOnTcp() throws Exception {
        assumeTrue(RdmaTestDevice.get().isIwarp(), "the device is none of iWARP");
        ForkedJvm.Result result = ForkedJvm.of(HttpProgram.class)
                .options("-javaagent:" + AgentJar.in(folder), "-Dio.rdmacm.sockets.log=INFO")
                .run("0.0.0.0", ADDRESS, "127.0.0.1");

        assertThat(result.status()).as(result.errors()).isZero();
        assertThat(result.output().lines()).hasSize(8).allMatch(line -> line.endsWith(" true"));
        assertThat(AgentJar.lines(result)).hasSize(1).allMatch(line -> line.contains("no RDMA device"));
    }

    @Test
    void theJarHasEverything() throws Exception {
        Optional<Path> jar = AgentJar.packaged();
        assumeTrue(jar.isPresent(), "the jar was not made yet");
        assertHttp(ForkedJvm.of(HttpProgram.class).options("-javaagent:" + jar.get() + PATIENT)
                .classPath(classesOfTests().toString()));
    }

    private static Path classesOfTests() throws Exception {
        return Path.of(HttpProgram.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    }

    private ForkedJvm inARoot(Path jar) throws Exception {
        return ForkedJvm.of(HttpProgram.class).classPath(classesOfTests().toString())
                .by("unshare", "--mount", "bash", "-c", IN_A_ROOT, "bash",
                        Files.createTempDirectory(folder, "root").toString(), System.getProperty("java.home"), "/proc",
                        "/sys", "/dev", jar.toString(), classesOfTests().toString(), "--");
    }

    @Test
    @Nightly
    void inARootWithoutLibrdmacmAProgramRunsAsBefore() throws Exception {
        assumeTrue(new ProcessBuilder("unshare", "--mount", "true").start().waitFor() == 0, "only for root");
        Optional<Path> jar = AgentJar.packaged();
        assumeTrue(jar.isPresent(), "the jar was not made yet");
        Optional<Long> before = SentPackets.count();
        String agent = "-javaagent:" + jar.get();
        ForkedJvm.Result without = inARoot(jar.get()).run("0.0.0.0", ADDRESS, "127.0.0.1");
        ForkedJvm.Result with = inARoot(jar.get()).options(agent)
                .run("0.0.0.0", ADDRESS, "127.0.0.1");
        ForkedJvm.Result asked = inARoot(jar.get()).options(agent, "-Dio.rdmacm.sockets.log=INFO")
                .run("127.0.0.1", "127.0.0.1");

        assertThat(without.status()).as(without.errors()).isZero();
        assertThat(without.output().lines()).hasSize(8).allMatch(line -> line.endsWith(" true"));
        assertThat(with).isEqualTo(without);
        assertThat(with.errors()).isEmpty();
        assertThat(asked.errors().lines()).hasSize(1)
                .allMatch(line -> line.startsWith("rdmacm-sockets: INFO ") && line.contains("cannot load lib"));
        assertThat(SentPackets.count()).isEqualTo(before);
    }

    @Test
    void aProgramWithItsOwnClassLoaderAndLogManagerGoesOverRdma() throws Exception {
        AgentJar.assumeTakesDevice();
        Optional<Path> jar = AgentJar.packaged();
        assumeTrue(jar.isPresent(), "the jar was not made yet");
        Optional<Long> before = SentPackets.count();
        ForkedJvm.Result result = ForkedJvm.of(IsolatedProgram.class).options("-javaagent:" + jar.get() + PATIENT)
                .classPath(classesOfTests().toString()).run("0.0.0.0", ADDRESS, "127.0.0.1");

        assertThat(result.status()).as(result.errors()).isZero();
        assertThat(result.output().lines()).hasSize(10).allMatch(line -> line.endsWith(" true"));
        assertThat(AgentJar.lines(result)).hasSize(1);
        if (before.isPresent()) {
            assertThat(SentPackets.count().orElseThrow() - before.get()).isGreaterThan(PACKETS);
        }
    }

    @Test
    void socketsOfTlsAndSubclassesAreServed() throws Exception {
        AgentJar.assumeTakesDevice();
        Path keys = folder.resolve("keys");
        assertThat(new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair", "-keyalg", "EC", "-dname", "CN=test", "-ext", "san=dns:host.example", "-keystore",
                keys.toString(), "-storepass", TlsProgram.PASSWORD).inheritIO().start().waitFor()).isZero();
        Optional<Long> before = SentPackets.count();
        ForkedJvm.Result result = ForkedJvm.of(TlsProgram.class)
                .options("-javaagent:" + AgentJar.in(folder) + PATIENT).run(ADDRESS, keys.toString());

        assertThat(result.output().lines()).as(result.errors()).hasSize(16).allMatch(line -> line.endsWith(" true"));
        if (before.isPresent()) {
            assertThat(SentPackets.count().orElseThrow() - before.get()).isGreaterThan(4 * 300_000 / SentPackets.SIZE);
        }
    }

    @Test
    void aProgramThatReturnsEndsWhateverItHasLeftOpen() throws Exception {
        AgentJar.assumeTakesDevice();
        ForkedJvm.Result result = ForkedJvm.of(ReturningProgram.class)
                .options("-javaagent:" + AgentJar.in(folder) + PATIENT).run(ADDRESS, "127.0.0.1");

        assertThat(result.status()).as(result.output() + result.errors()).isZero();
        assertThat(result.output().lines()).as(result.errors()).hasSize(4).allMatch(line -> line.endsWith(" true"));
    }

    /** By JAVA_TOOL_OPTIONS, and then by the command line with rules, which do not hold. */
    @Test
    void theFirstOfTwoAgentsServesAndTheOtherSaysThatItDoesNot() throws Exception {
        String agent = "-javaagent:" + AgentJar.in(folder);
        Path rules = Files.writeString(folder.resolve("rules"), "deny both * *");
        ForkedJvm.Result same = ForkedJvm.of(HttpProgram.class).options(agent + PATIENT, agent + PATIENT)
                .run("0.0.0.0", ADDRESS);
        ForkedJvm.Result other = ForkedJvm.of(HttpProgram.class).options(agent + PATIENT, agent + "=" + rules)
                .run("0.0.0.0", ADDRESS);

        assertThat(same.output().lines()).as(same.errors()).hasSize(4).allMatch(line -> line.endsWith(" true"));
        assertThat(AgentJar.lines(same)).hasSize(1);
        assertThat(other.output().lines()).as(other.errors()).hasSize(4).allMatch(line -> line.endsWith(" true"));
        assertThat(AgentJar.lines(other)).hasSize(2).first().asString().doesNotContain("rules");
        assertThat(AgentJar.lines(other)).last().asString().startsWith("rdmacm-sockets: WARN ");
    }

    @Test
    void plainSocketsGoOverRdma() throws Exception {
        AgentJar.assumeTakesDevice();
        ForkedJvm.Result result = ForkedJvm.of(PlainProgram.class)
                .options("-javaagent:" + AgentJar.in(folder) + PATIENT).run(ADDRESS);

        assertThat(result.status()).as(result.output() + result.errors()).isZero();
        assertThat(result.output().lines()).containsSequence(Stream.of("connect RDMA", "accept RDMA", "echo true",
                "interrupted true", "timeout true", "option true", "local TCP", "echo true", "refused true",
                "accept timeout true", "closed true", "options true", "asynchronous RDMA", "factory true")
                .toList());
    }

    @Test
    void plainSocketsEndAsThoseOfTheJdk() throws Exception {
        AgentJar.assumeTakesDevice();
        byte[] address = RdmaTestDevice.get().ipv4().getAddress();
        address[address.length - 1] ^= 0x40;
        String nobody = InetAddress.getByAddress(address).getHostAddress();
        Path rules = Files.writeString(folder.resolve("rules"), "only connect " + nobody + " *");
        ForkedJvm.Result result = ForkedJvm.of(PlainEndsProgram.class)
                .options("-javaagent:" + AgentJar.in(folder) + PATIENT + ",rules:" + rules).run(ADDRESS, nobody);

        assertThat(result.status()).as(result.output() + result.errors()).isZero();
        assertThat(result.output().lines()).hasSize(15).allMatch(line -> line.endsWith(" true"));
    }

    @Test
    void serversThatFailOverRdmaGoOnOverTcp() throws Exception {
        AgentJar.assumeTakesDevice();
        ForkedJvm.Result result = ForkedJvm.of(FailedServersProgram.class)
                .options("-javaagent:" + AgentJar.in(folder) + PATIENT).run(ADDRESS);

        assertThat(result.status()).as(result.output() + result.errors()).isZero();
        assertThat(result.output().lines()).hasSize(4).allMatch(line -> line.endsWith(" true"));
        assertThat(AgentJar.lines(result)).filteredOn(line -> line.contains("TCP alone")).hasSize(4);
    }

    private void assertChannels(int connections) throws Exception {
        AgentJar.assumeTakesDevice();
        ForkedJvm.Result result = ForkedJvm.of(ManyChannelsProgram.class)
                .options("-javaagent:" + AgentJar.in(folder) + PATIENT)
                .run(ADDRESS, String.valueOf(connections), "4096");

        assertThat(result.status()).as(result.output() + result.errors()).isZero();
        assertThat(result.output().lines()).contains(2 * connections + " of " + 2 * connections
                + " channels over RDMA, " + connections + " echoes", "keys left: 1");
    }

    @Nightly
    @Test
    void aSelectorTakesManyChannels() throws Exception {
        assertChannels(100);
    }

    @Test
    @Nightly
    void aSelectorTakesTenThousandChannels() throws Exception {
        var machine = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        assumeTrue(machine.getTotalMemorySize() > FOR_TEN_THOUSAND, "10,000 channels need more memory, most of it for"
                + " the queues of SoftRoCE");
        assertChannels(5000);
    }

    @Test
    void filesAreTransferredBothWays() throws Exception {
        AgentJar.assumeTakesDevice();
        Optional<Long> before = SentPackets.count();
        ForkedJvm.Result result = ForkedJvm.of(FileTransfersProgram.class)
                .options("-javaagent:" + AgentJar.in(folder) + PATIENT).run(ADDRESS, "127.0.0.1");

        assertThat(result.status()).as(result.errors()).isZero();
        assertThat(result.output().lines()).as(result.output()).hasSize(6).allMatch(line -> line.endsWith("true"));
        assertThat(AgentJar.lines(result)).hasSize(1);
        if (before.isPresent()) {
            assertThat(SentPackets.count().orElseThrow() - before.get())
                    .isGreaterThan(2 * 3_000_000 / SentPackets.SIZE);
        }
    }

    @Test
    void whatIsNotForOtherHostsOrNoTcpStaysAsItIs() throws Exception {
        AgentJar.assumeTakesDevice();
        Optional<Long> before = SentPackets.count();
        Process program = ForkedJvm.of(LocalProgram.class).options("-javaagent:" + AgentJar.in(folder))
                .start(folder.resolve("errors"), ADDRESS);
        try {
            assertThat(Stream.generate(() -> readLine(program)).limit(3))
                    .containsExactly("unix 600000", "loopback 600000", "datagrams 600000");
            // By the socket of HotSpot to attach to it, and then by TCP.
            ForkedJvm.Result seen = ForkedJvm.of(Main.class).run(String.valueOf(program.pid()));
            assertThat(seen.output().lines()).as(seen.errors()).contains("1 connect TCP: loopback")
                    .noneMatch(line -> line.contains("connect RDMA") || line.contains("accept RDMA"));
        } finally {
            program.destroyForcibly().waitFor();
        }
        if (before.isPresent()) {
            // One of the three would be more; a connection of a former test may have sent its last ones.
            assertThat(SentPackets.count().orElseThrow() - before.get()).isLessThan(600_000 / SentPackets.SIZE);
        }
    }

    private static String readLine(Process program) {
        try {
            return program.inputReader().readLine();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
