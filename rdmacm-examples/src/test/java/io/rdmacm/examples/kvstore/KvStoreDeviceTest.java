// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.kvstore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import io.rdmacm.core.PortSpace;
import io.rdmacm.core.connection.ConnectionManager;
import io.rdmacm.examples.testing.Addresses;
import io.rdmacm.examples.testing.Kind;
import io.rdmacm.examples.testing.Leaks;
import io.rdmacm.examples.testing.Ports;
import io.rdmacm.examples.testing.Program;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;

/** The programs kv_server and kv_client, and their connections. */
@RequiresRdma
class KvStoreDeviceTest {
    private static final int PUTS = 100;

    @Test
    void clientsGetWhatOthersPut() throws Exception {
        try (Program server = server()) {
            assertThat(client(server, "put", "greeting", "hello")).isEqualTo(new Program.Result(0, "", ""));
            assertThat(client(server, "get", "greeting").outLines()).containsExactly("hello");
            Program.Result missing = client(server, "get", "farewell");
            assertThat(missing.status()).isEqualTo(1);
            assertThat(missing.errLines()).containsExactly("kv_client: there is no farewell");
            Program.Result tooLong = client(server, "put", "greeting", "x".repeat(2000));
            assertThat(tooLong.errLines()).containsExactly("kv_client: the server's keys have 1 to 32 bytes and its"
                    + " values at most 1024, not 8 and 2000");
            server.kill();
            assertThat(server.result().status()).isEqualTo(130);
            assertThat(server.result().outLines()).filteredOn(line -> !line.startsWith("a table of "))
                    .containsExactly("put greeting, 5 bytes");
        }
    }

    @Test
    void theServerTakesNoPartInGets() throws Exception {
        try (Store store = new Store(16); KvConnection client = store.connect(); KvConnection other = store.connect()) {
            byte[] key = {'k'};
            assertThat(client.get(key)).isNull();
            other.put(key, new byte[] {5, 6});
            assertThat(client.get(key)).containsExactly(5, 6);
            assertThat(store.log).containsExactly("put k, 2 bytes");
            assertThatThrownBy(() -> client.put(key, new byte[17])).hasMessageContaining("at most 16");
            assertThatThrownBy(() -> {
                for (byte i = 0; i < 9; i++) {
                    client.put(new byte[] {i}, new byte[1]);
                }
            }).hasMessageContaining("no slot left");
        }
    }

    @Test
    void readsWaitForAWriteToEnd() throws Exception {
        try (Store store = new Store(16); KvConnection client = store.connect()) {
            byte[] key = {1};
            client.put(key, new byte[] {7});
            long version = store.table.layout().offset(key, 0);
            // As if a put had begun.
            store.table.memory().set(ValueLayout.JAVA_LONG.withOrder(KvSlot.ORDER), version, 3);
            try (Background<byte[]> get = Background.call(() -> client.get(key))) {
                while (client.reads() < 5) {
                    assertThat(get.isDone()).isFalse();
                    Thread.yield();
                }
                store.table.memory().set(ValueLayout.JAVA_LONG.withOrder(KvSlot.ORDER), version, 2);
                assertThat(get.result()).containsExactly(7);
            }
        }
    }

    /** A value of many packets, which one client writes while others read it. */
    @Test
    void hotKeysAreReadWhole() throws Exception {
        byte[] key = {1};
        try (Store store = new Store(30_000); KvConnection writer = store.connect()) {
            writer.put(key, filled(0));
            List<Background<Void>> readers = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                readers.add(Background.run(() -> {
                    try (KvConnection reader = store.connect()) {
                        byte[] value = reader.get(key);
                        for (int last = 0; last < PUTS; value = reader.get(key)) {
                            assertThat(value).isEqualTo(filled(value[0]));
                            assertThat(value[0]).isGreaterThanOrEqualTo((byte) last);
                            last = value[0];
                        }
                    }
                }));
            }
            for (int put = 1; put <= PUTS; put++) {
                writer.put(key, filled(put));
            }
            for (Background<Void> reader : readers) {
                reader.result();
            }
        }
    }

    private static byte[] filled(int put) {
        byte[] value = new byte[30_000];
        Arrays.fill(value, (byte) put);
        return value;
    }

    @Test
    void aKilledClientDisturbsNobody() throws Exception {
        try (Store store = new Store(16); KvConnection client = store.connect()) {
            try (Program other = Kind.JVM.start("kv_client", "-a", Addresses.ipv4(), "-p", "" + store.port(), "put",
                    "k", "v")) {
                other.kill();
                other.result();
            }
            client.put(new byte[] {1}, new byte[] {2});
            assertThat(client.get(new byte[] {1})).containsExactly(2);
        }
    }

    @Test
    void nobodyListens() throws Exception {
        String port = "" + Ports.free(Addresses.of(false), PortSpace.TCP);
        try (Program client = Kind.JAVA.start("kv_client", "-a", Addresses.ipv4(), "-p", port, "get", "greeting")) {
            assertThat(client.result().status()).isEqualTo(1);
            assertThat(client.result().errLines()).singleElement().asString().startsWith("kv_client: ")
                    .contains("rejected");
        }
    }

    @Test
    void nothingIsLeaked() throws Exception {
        Leaks.assertNone(() -> {
            try (Program server = server()) {
                assertThat(client(server, "put", "greeting", "hello").status()).isZero();
                server.kill();
                server.result();
            }
        });
    }

    /** A store in this JVM, whose table the test can reach: 8 slots. */
    private static final class Store implements AutoCloseable {
        private final Arena arena = Arena.ofShared();
        private final KvTable table;
        private final Queue<String> log = new ConcurrentLinkedQueue<>();
        private final KvService service;
        private final ConnectionManager manager = ConnectionManager.open();

        Store(int valueBytes) throws Exception {
            table = new KvTable(new KvLayout(8, 8, valueBytes), arena);
            service = new KvService(new InetSocketAddress(Addresses.of(false), 0), table, log::add);
        }

        int port() {
            return service.address().getPort();
        }

        KvConnection connect() throws Exception {
            return new KvConnection(manager, service.address());
        }

        @Override
        public void close() throws IOException {
            manager.close();
            service.close();
            arena.close();
        }
    }

    private static Program server() throws Exception {
        return Kind.JAVA.start("kv_server", "-a", Addresses.ipv4(), "-p", "0");
    }

    private static Program.Result client(Program server, String... words) throws Exception {
        List<String> all = new ArrayList<>(List.of("-a", Addresses.ipv4(), "-p",
                server.awaitOutput("listening on port (\\d+)").group(1)));
        all.addAll(List.of(words));
        try (Program client = Kind.JAVA.start("kv_client", all)) {
            return client.result();
        }
    }
}
