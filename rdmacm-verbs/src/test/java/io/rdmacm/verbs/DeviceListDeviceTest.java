// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.address.Gid;
import io.rdmacm.verbs.address.GidEntry;
import io.rdmacm.verbs.address.Rate;
import io.rdmacm.verbs.device.DeviceAttributes;
import io.rdmacm.verbs.device.DeviceAttributesEx;
import io.rdmacm.verbs.device.ForkStatus;
import io.rdmacm.verbs.device.NodeType;
import io.rdmacm.verbs.device.PortAttributes;
import io.rdmacm.verbs.device.PortState;
import io.rdmacm.verbs.device.RealTimeValues;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.forked.InitializeFork;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.ForkedJvm;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.work.WorkCompletionStatus;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The queries of real devices and their ports. */
@RequiresRdma
class DeviceListDeviceTest {
    private static final int PORT = 1;
    private static final long PAGE = 4096;

    @FunctionalInterface
    private interface Use {
        void of(Device device, VerbsContext context) throws Exception;
    }

    private static void eachDevice(Use use) throws Exception {
        for (Device device : Device.list()) {
            try (VerbsContext context = device.open()) {
                use.of(device, context);
            }
        }
    }

    private static int tableLength(VerbsContext context) throws RdmaException {
        int length = 0;
        for (int port = 1; port <= context.queryDevice().physicalPorts(); port++) {
            length += context.queryPort(port).gidTableLength();
        }
        return length;
    }

    private static String sysfs(Device device, String file) throws IOException {
        return Files.readString(Path.of(device.path(), file)).strip();
    }

    @Test
    @DisplayName("DeviceTest.test_dev_list")
    @Covers({"ibv_get_device_list", "ibv_free_device_list", "ibv_get_device_name", "ibv_get_device_guid",
            "ibv_get_device_index"})
    void list() throws Exception {
        List<Device> devices = Device.list();

        assertThat(devices).extracting(Device::name).contains(RdmaTestDevice.get().name());
        for (Device device : devices) {
            assertThat(device.path()).isEqualTo("/sys/class/infiniband/" + device.name());
            assertThat(device.guid()).hasToString(sysfs(device, "node_guid"));
            assertThat(device.nodeType().value()).isEqualTo(Integer.parseInt(sysfs(device, "node_type").split(":")[0]));
        }
        assertThat(devices).extracting(Device::index).doesNotHaveDuplicates().allMatch(index -> index >= 0);
    }

    @Test
    @DisplayName("DeviceTest.test_open_dev")
    @Covers({"ibv_open_device", "ibv_close_device"})
    void open() throws Exception {
        eachDevice((device, context) -> {
            assertThat(context.deviceName()).isEqualTo(device.name());
            assertThat(context.commandFd()).isPositive();
        });
    }

    private static void assertPlausible(DeviceAttributes attributes, Device device) throws IOException {
        if (device.nodeType() != NodeType.UNSPECIFIED && device.nodeType() != NodeType.UNKNOWN) {
            assertThat(attributes.nodeGuid()).isEqualTo(device.guid());
            assertThat(attributes.nodeGuid().isZero()).isFalse();
            assertThat(attributes.systemImageGuid()).hasToString(sysfs(device, "sys_image_guid"));
        }
        assertThat(Long.compareUnsigned(attributes.maxRegionSize(), PAGE)).isPositive();
        assertThat(attributes.pageSizes()).isNotZero();
        assertThat(Long.compareUnsigned(attributes.pageSizes(), PAGE)).isNotNegative();
        assertThat(attributes.vendorId()).isNotZero();
        assertThat(List.of(attributes.maxQueuePairs(), attributes.maxQueuePairRequests(),
                attributes.maxScatterGather(), attributes.maxCompletionQueues(),
                attributes.maxCompletionQueueEntries(), attributes.maxRegions(), attributes.maxProtectionDomains(),
                attributes.physicalPorts())).allMatch(limit -> limit > 0);
        assertThat(attributes.maxReadScatterGather()).isNotNegative();
        if (device.nodeType() == NodeType.CA) {
            assertThat(attributes.maxPartitions()).isPositive();
        }
    }

    @Test
    @DisplayName("DeviceTest.test_query_device")
    @Covers("ibv_query_device")
    void queryDevice() throws Exception {
        eachDevice((device, context) -> assertPlausible(context.queryDevice(), device));
    }

    @Test
    @DisplayName("DeviceTest.test_query_device_ex")
    @Covers("ibv_query_device_ex")
    void queryDeviceEx() throws Exception {
        eachDevice((device, context) -> {
            DeviceAttributesEx attributes = context.queryDeviceEx();
            assertPlausible(attributes.basic(), device);
            assertThat(attributes.basic()).isEqualTo(context.queryDevice());
        });
    }

    @Test
    @DisplayName("DeviceTest.test_phys_port_cnt_ex")
    @Covers("ibv_query_device_ex")
    void physicalPorts() throws Exception {
        eachDevice((device, context) -> {
            DeviceAttributesEx attributes = context.queryDeviceEx();
            assertThat(attributes.basic().physicalPorts()).isEqualTo(Math.min(255, attributes.physicalPorts()));
        });
    }

    @Test
    @DisplayName("DeviceTest.test_query_port")
    @Covers("ibv_query_port")
    void queryPort() throws Exception {
        eachDevice((device, context) -> {
            PortAttributes port = context.queryPort(PORT);
            assertThat(port.state().value()).isEqualTo(Integer.parseInt(sysfs(device, "ports/1/state").split(":")[0]));
            assertThat(port.physicalState().code())
                    .isEqualTo(Integer.parseInt(sysfs(device, "ports/1/phys_state").split(":")[0]));
            assertThat(port.linkLayer().name()).isEqualToIgnoringCase(sysfs(device, "ports/1/link_layer"));
            assertThat(port.maxMtu()).isBetween(256, 4096);
            assertThat(port.activeMtu()).isBetween(256, port.maxMtu());
            assertThat(port.activeWidth().lanes().orElseThrow()).isIn(1, 2, 4, 8, 12);
            assertThat(port.activeSpeed().code()).isPositive();
            assertThat(port.maxMessageSize()).isGreaterThan(PAGE);
        });
    }

    @Test
    @DisplayName("DeviceTest.test_query_port_bad_flow")
    @Covers("ibv_query_port")
    void queryPortBadFlow() throws Exception {
        eachDevice((device, context) -> {
            int ports = context.queryDevice().physicalPorts();
            for (int port = ports + 1; port <= Math.min(255, ports + 10); port++) {
                int absent = port;
                assertThatThrownBy(() -> context.queryPort(absent)).isInstanceOfSatisfying(RdmaException.class,
                        e -> assertThat(e.errno()).isEqualTo(Rdma.EINVAL())).hasMessageContaining("port " + port);
            }
        });
    }

    @Test
    @DisplayName("DeviceTest.test_query_pkey")
    @Covers({"ibv_query_pkey", "ibv_get_pkey_index"})
    void queryPartitionKey() throws Exception {
        eachDevice((device, context) -> {
            if (device.nodeType() == NodeType.CA) {
                int key = context.queryPartitionKey(PORT, 0);
                assertThat(key).isEqualTo(Integer.decode(sysfs(device, "ports/1/pkeys/0")));
                assertThat(context.partitionKeyIndex(PORT, key)).isZero();
                int length = context.queryPort(PORT).partitionKeyTableLength();
                assertThatThrownBy(() -> context.queryPartitionKey(PORT, length)).isInstanceOf(RdmaException.class);
                assertThatThrownBy(() -> context.partitionKeyIndex(PORT, 0x1234)).isInstanceOf(RdmaException.class);
            }
        });
    }

    @Test
    @DisplayName("DeviceTest.test_query_gid")
    @Covers("ibv_query_gid")
    void queryGid() throws Exception {
        eachDevice((device, context) -> {
            int length = context.queryPort(PORT).gidTableLength();
            if (length > 0) {
                Gid gid = context.queryGid(PORT, 0);
                assertThat(String.join("", sysfs(device, "ports/1/gids/0").split(":")))
                        .isEqualTo("%016x%016x".formatted(gid.subnetPrefix(), gid.interfaceId()));
                assertThatThrownBy(() -> context.queryGid(PORT, length)).isInstanceOfSatisfying(RdmaException.class,
                        e -> assertThat(e.errno()).isEqualTo(Rdma.EINVAL()));
            }
        });
    }

    @Test
    @DisplayName("DeviceTest.test_query_gid_table")
    @Covers({"ibv_query_gid_table", "_ibv_query_gid_table"})
    void queryGidTable() throws Exception {
        eachDevice((device, context) -> {
            List<GidEntry> table = context.queryGidTable(tableLength(context));
            for (GidEntry entry : table) {
                assertThat(context.queryGid(entry.port(), entry.index())).isEqualTo(entry.gid());
            }
            assertThat(table).doesNotHaveDuplicates();
            // The only GID of an iWARP device is its MAC address.
            if (device.name().equals(RdmaTestDevice.get().name()) && !RdmaTestDevice.get().isIwarp()) {
                assertThat(table).extracting(GidEntry::networkInterface)
                        .contains(RdmaTestDevice.get().networkInterface().getIndex());
                assertThat(table).extracting(GidEntry::gid).contains(Gid.ofAddress(RdmaTestDevice.get().ipv4()));
            }
        });
    }

    @Test
    @DisplayName("DeviceTest.test_query_gid_table_bad_flow")
    @Covers({"ibv_query_gid_table", "_ibv_query_gid_table"})
    void queryGidTableBadFlow() throws Exception {
        eachDevice((device, context) -> assertThatThrownBy(() -> context.queryGidTable(0))
                .isInstanceOfSatisfying(RdmaException.class, e -> assertThat(e.errno()).isEqualTo(Rdma.EINVAL())));
    }

    @Test
    @DisplayName("DeviceTest.test_query_gid_ex")
    @Covers({"ibv_query_gid_ex", "_ibv_query_gid_ex"})
    void queryGidEx() throws Exception {
        eachDevice((device, context) -> {
            for (GidEntry entry : context.queryGidTable(tableLength(context))) {
                assertThat(context.queryGidEx(entry.port(), entry.index())).isEqualTo(entry);
            }
        });
    }

    @Test
    @DisplayName("DeviceTest.test_query_gid_ex_bad_flow")
    @Covers({"ibv_query_gid_ex", "_ibv_query_gid_ex"})
    void queryGidExBadFlow() throws Exception {
        eachDevice((device, context) -> {
            Set<Integer> used = context.queryGidTable(tableLength(context)).stream()
                    .filter(entry -> entry.port() == PORT).map(GidEntry::index).collect(Collectors.toSet());
            int empty = IntStream.range(0, context.queryPort(PORT).gidTableLength())
                    .filter(index -> !used.contains(index)).findFirst().orElse(-1);
            Assumptions.assumeTrue(empty >= 0, "all places of the table of GIDs are taken");
            assertThatThrownBy(() -> context.queryGidEx(PORT, empty)).isInstanceOfSatisfying(RdmaException.class,
                    e -> assertThat(e.errno()).isEqualTo(Rdma.ENODATA()));
            assertThat(context.queryGid(PORT, empty).isZero()).isTrue();
        });
    }

    @Test
    @Covers("ibv_query_rt_values_ex")
    void theClockIsReadOrRefused() throws Exception {
        eachDevice((device, context) -> {
            if (context.queryDeviceEx().coreClock() == 0) {
                assertThatExceptionOfType(RdmaUnsupportedException.class)
                        .isThrownBy(() -> context.queryRealTimeValues());
            } else {
                assertThat(context.queryRealTimeValues()).isNotEqualTo(new RealTimeValues(0, 0));
            }
        });
    }

    @Test
    @Covers("ibv_import_device")
    void aDeviceIsImportedOrRefused() throws Exception {
        eachDevice((device, context) -> {
            try (VerbsContext imported = Device.importDevice(context.commandFd())) {
                assertThat(imported.deviceName()).isEqualTo(device.name());
                assertThat(imported.queryDevice()).isEqualTo(context.queryDevice());
            } catch (RdmaUnsupportedException e) {
                assertThat(e.function()).isEqualTo("ibv_import_device");
            }
            // its command file is still its own
            assertThat(context.queryPort(PORT).gidTableLength()).isPositive();
        });
    }

    @Test
    @Covers({"ibv_node_type_str", "ibv_port_state_str", "ibv_wc_status_str"})
    void textsOfTheLibrary() throws Exception {
        assertThat(NodeType.CA.text()).isEqualTo("InfiniBand channel adapter");
        assertThat(PortState.ACTIVE.text()).isEqualTo("active");
        assertThat(WorkCompletionStatus.RNR_RETRY_EXC_ERR.text()).isEqualTo("RNR retry counter exceeded");
        for (WorkCompletionStatus status : WorkCompletionStatus.values()) {
            assertThat(status.text()).isNotBlank();
        }
    }

    @Test
    @Covers({"ibv_rate_to_mult", "mult_to_ibv_rate", "ibv_rate_to_mbps", "mbps_to_ibv_rate"})
    void ratesOfTheLibrary() throws Exception {
        assertThat(Rate.RATE_5_GBPS.toMultiplier()).isEqualTo(2);
        assertThat(Rate.ofMultiplier(4)).isEqualTo(Rate.RATE_10_GBPS);
        assertThat(Rate.ofMultiplier(3)).isEqualTo(Rate.RATE_MAX);
        assertThat(Rate.RATE_100_GBPS.toMegabits()).isEqualTo(103_125);
        for (Rate rate : Rate.known()) {
            assertThat(Rate.ofMegabits(rate.toMegabits())).isEqualTo(rate);
        }
    }

    @Test
    @DisplayName("ForkAPITest.test_is_fork_initialized")
    @Covers({"ibv_fork_init", "ibv_is_fork_initialized"})
    void forkIsInitialized() throws Exception {
        // in a JVM of its own: it is too late when any test before has registered memory
        ForkedJvm.Result result = ForkedJvm.of(InitializeFork.class).nativeAccess().run();

        assertThat(result.output().strip()).describedAs(result.errors())
                .isIn(ForkStatus.ENABLED.name(), ForkStatus.UNNEEDED.name());
    }
}
