// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.kvstore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.rdmacm.core.PortSpace;
import io.rdmacm.core.connection.ConnectionManager;
import io.rdmacm.examples.testing.Kind;
import io.rdmacm.examples.testing.Leaks;
import io.rdmacm.examples.testing.Ports;
import io.rdmacm.examples.testing.Program;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;

/** The programs kv_server and kv_load over RDMA. */
@RequiresRdma
class KvStoreDeviceTest {
    private static final String MANY = "100000000";

    @Test
    void theLoadIsCheckedAndMeasured() throws Exception {
        try (Program server = server(Kind.JAVA)) {
            for (int i = 0; i < 2; i++) {
                Program.Result result = load(server, "-n", "400", "-k", "50", "-r", "50", "-S", "1000");
                assertThat(result).returns(0, Program.Result::status).returns("", Program.Result::err);
                assertThat(result.outLines().getFirst()).isEqualTo("400 operations, 50 % of them gets, by 4 clients on"
                        + " 50 keys with values of 1000 bytes, through " + RdmaTestDevice.get().name());
                int gets = count(result, "get");
                int puts = count(result, "put");
                assertThat(gets).isBetween(100, 300);
                assertThat(gets + puts).isEqualTo(400);
                assertThat(result.out()).contains("the server handled " + (50 + puts) + " puts");
            }
            stop(server);
        }
    }

    @Test
    void hotKeysAreReadWhole() throws Exception {
        // One value of many packets; half of the operations write it.
        try (Program server = server(Kind.JAVA, "-S", "30000", "--slots", "64")) {
            Program.Result result = load(server, "-n", "300", "-k", "4", "-r", "50", "-S", "30000");
            assertThat(result).returns(0, Program.Result::status).returns("", Program.Result::err);
            stop(server);
        }
    }

    @Test
    void theServerTakesNoPartInGets() throws Exception {
        try (Store store = new Store(); KvClient client = store.client(); KvClient other = store.client()) {
            byte[] key = {1};
            assertThat(client.get(key)).isNull();
            other.put(key, new byte[] {5, 6});
            assertThat(client.get(key)).containsExactly(5, 6);
            for (int i = 0; i < 20; i++) {
                client.get(key);
            }
            assertThat(client.puts()).isOne();
            assertThatThrownBy(() -> client.put(key, new byte[17])).hasMessageContaining("refused");
            assertThatThrownBy(() -> {
                for (byte i = 0; i < 9; i++) {
                    client.put(new byte[] {i}, new byte[1]);
                }
            }).hasMessageContaining("no slot left");
        }
    }

    @Test
    void readsWaitForAWriteToEnd() throws Exception {
        try (Store store = new Store(); KvClient client = store.client()) {
            byte[] key = {1};
            client.put(key, new byte[] {7});
            long version = store.table.layout().offset(key, 0);
            // As if a put had begun.
            store.table.memory().set(ValueLayout.JAVA_LONG.withOrder(KvSlot.ORDER), version, 3);
            try (Background<byte[]> get = Background.call(() -> client.get(key))) {
                while (client.tornReads() < 5) {
                    assertThat(get.isDone()).isFalse();
                    Thread.yield();
                }
                store.table.memory().set(ValueLayout.JAVA_LONG.withOrder(KvSlot.ORDER), version, 2);
                assertThat(get.result()).containsExactly(7);
            }
        }
    }

    @Test
    void serverKilled() throws Exception {
        try (Program server = server(Kind.JVM); Program load = startLoad(Kind.JAVA, server, "-n", MANY)) {
            load.awaitOutput("operations, ");
            server.kill();
            assertThat(load.result().status()).isEqualTo(1);
            assertThat(load.result().errLines()).singleElement().asString().startsWith("kv_load: ");
        }
    }

    @Test
    void clientKilled() throws Exception {
        try (Program server = server(Kind.JAVA); Program load = startLoad(Kind.JVM, server, "-n", MANY)) {
            load.awaitOutput("operations, ");
            load.kill();
            // The other clients are still served.
            assertThat(load(server, "-n", "20", "-k", "10")).returns(0, Program.Result::status);
            stop(server);
        }
    }

    @Test
    void interruptedLoadEndsQuietly() throws Exception {
        try (Program server = server(Kind.JAVA); Program load = startLoad(Kind.JAVA, server, "-n", MANY)) {
            load.awaitOutput("operations, ");
            load.kill();
            assertThat(load.result()).returns(130, Program.Result::status).returns("", Program.Result::err);
            stop(server);
        }
    }

    @Test
    void valuesLongerThanTheServers() throws Exception {
        try (Program server = server(Kind.JAVA)) {
            Program.Result result = load(server, "-S", "2000");
            assertThat(result.status()).isEqualTo(1);
            assertThat(result.errLines()).containsExactly("kv_load: the server's values have at most 1024 bytes and its"
                    + " keys 32, not 2000 and 8: start it with -S and --key-size");
            stop(server);
        }
    }

    @Test
    void nobodyListens() throws Exception {
        String host = RdmaTestDevice.get().ipv4().getHostAddress();
        int port = Ports.free(RdmaTestDevice.get().ipv4(), PortSpace.TCP);
        try (Program load = Program.inThread("kv_load", "-a", host, "-p", "" + port)) {
            assertThat(load.result().status()).isEqualTo(1);
            assertThat(load.result().errLines()).singleElement().asString().startsWith("kv_load: ")
                    .contains("rejected");
        }
    }

    @Test
    void nothingIsLeaked() throws Exception {
        Leaks.assertNone(() -> {
            try (Program server = server(Kind.JAVA)) {
                assertThat(load(server, "-n", "20", "-k", "10")).returns(0, Program.Result::status);
                stop(server);
            }
        });
    }

    /** A store in this JVM, whose table the test can reach: 8 slots for values of 16 bytes. */
    private static final class Store implements AutoCloseable {
        private final Arena arena = Arena.ofShared();
        private final KvTable table = new KvTable(new KvLayout(8, 8, 16), arena);
        private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
        private final KvService service = new KvService(new InetSocketAddress(RdmaTestDevice.get().ipv4(), 0), table,
                failures::add);
        private final ConnectionManager manager = ConnectionManager.open();

        Store() throws IOException {
        }

        KvClient client() throws Exception {
            return new KvClient(manager, service.address());
        }

        @Override
        public void close() throws IOException {
            manager.close();
            service.close();
            arena.close();
            assertThat(failures).isEmpty();
        }
    }

    private static int count(Program.Result result, String row) {
        Matcher matcher = Pattern.compile("(?m)^" + row + " +(\\d+) ").matcher(result.out());
        assertThat(matcher.find()).as(result.out()).isTrue();
        return Integer.parseInt(matcher.group(1));
    }

    private static void stop(Program server) throws Exception {
        server.kill();
        assertThat(server.result()).returns(130, Program.Result::status).returns("", Program.Result::err);
    }

    private static Program server(Kind kind, String... more) throws Exception {
        List<String> words = new ArrayList<>(List.of("-a", RdmaTestDevice.get().ipv4().getHostAddress(), "-p", "0"));
        words.addAll(List.of(more));
        return kind.start("kv_server", words);
    }

    private static Program.Result load(Program server, String... more) throws Exception {
        try (Program load = startLoad(Kind.JAVA, server, more)) {
            return load.result();
        }
    }

    private static Program startLoad(Kind kind, Program server, String... more) throws Exception {
        List<String> words = new ArrayList<>(List.of("-a", RdmaTestDevice.get().ipv4().getHostAddress(), "-p",
                server.awaitOutput("listening on port (\\d+)").group(1)));
        words.addAll(List.of(more));
        return kind.start("kv_load", words);
    }
}
