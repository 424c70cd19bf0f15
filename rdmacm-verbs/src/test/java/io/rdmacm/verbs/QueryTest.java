// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.RecordComponent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_device_attr_ex;
import io.rdmacm.bindings.ibv_gid_entry;
import io.rdmacm.bindings.ibv_port_attr;
import io.rdmacm.verbs.address.Gid;
import io.rdmacm.verbs.address.GidEntry;
import io.rdmacm.verbs.address.GidType;
import io.rdmacm.verbs.address.Guid;
import io.rdmacm.verbs.device.DeviceAttributes;
import io.rdmacm.verbs.device.DeviceAttributesEx;
import io.rdmacm.verbs.device.DeviceCapability;
import io.rdmacm.verbs.device.LinkSpeed;
import io.rdmacm.verbs.device.NodeType;
import io.rdmacm.verbs.device.PortAttributes;
import io.rdmacm.verbs.device.RxHashField;
import io.rdmacm.verbs.device.TransportType;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import io.rdmacm.verbs.work.FlagSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Queries of devices and ports: the calls are those of verbs.h, and the answers are read as C reads them. */
@WithFakeVerbs
class QueryTest {
    private static final int MOST_MEMBERS = 128;

    private VerbsContext context;
    private MemorySegment handle;

    @BeforeEach
    void open() throws RdmaException {
        context = Device.list().getFirst().open();
        handle = context.handle();
        FakeVerbs.call("fake_serve_queries", handle.address());
        FakeVerbs.reset();
    }

    @AfterEach
    void close() throws RdmaException {
        context.close();
    }

    private static List<Long> oracle(String function, long... more) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment numbers = arena.allocate(ValueLayout.JAVA_LONG, MOST_MEMBERS);
            long[] arguments = new long[more.length + 1];
            arguments[0] = numbers.address();
            System.arraycopy(more, 0, arguments, 1, more.length);
            long count = FakeVerbs.call(function, arguments);
            return Arrays.stream(numbers.asSlice(0, count * Long.BYTES).toArray(ValueLayout.JAVA_LONG)).boxed()
                    .toList();
        }
    }

    /** Returns the components of a record as C has them: flags as bits, constants as numbers, records flattened. */
    private static List<Long> numbers(Object value) {
        try {
            return switch (value) {
                case String text -> List.of();
                case Boolean flag -> List.of(flag ? 1L : 0L);
                case Number number -> List.of(number.longValue());
                case Enum<?> constant -> List.of(((Number) constant.getClass().getMethod("value").invoke(constant))
                        .longValue());
                case Duration time -> List.of(TimeUnit.MICROSECONDS.convert(time));
                case FlagSet<?> flags -> List.of(flags.bits());
                case DeviceAttributes device -> numbers(device);
                case DeviceAttributesEx device -> numbers(device);
                case PortAttributes port -> numbers(port);
                case Record record -> {
                    List<Long> numbers = new ArrayList<>();
                    for (RecordComponent component : record.getClass().getRecordComponents()) {
                        numbers.addAll(numbers(component.getAccessor().invoke(record)));
                    }
                    yield numbers;
                }
                default -> throw new AssertionError(value);
            };
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    private static List<Long> numbers(DeviceAttributes device) {
        return Stream.<Object>of(
                        device.firmwareVersion(), device.nodeGuid(), device.systemImageGuid(),
                        device.maxRegionSize(),
                        device.pageSizes(), device.vendorId(), device.vendorPartId(),
                        device.hardwareVersion(), device.maxQueuePairs(),
                        device.maxQueuePairRequests(), device.capabilities(),
                        device.maxScatterGather(), device.maxReadScatterGather(),
                        device.maxCompletionQueues(), device.maxCompletionQueueEntries(),
                        device.maxRegions(), device.maxProtectionDomains(),
                        device.maxQueuePairReadAtomic(), device.maxEeReadAtomic(),
                        device.maxResourceReadAtomic(),
                        device.maxQueuePairInitiatorReadAtomic(),
                        device.maxEeInitiatorReadAtomic(), device.atomicCapability(),
                        device.maxEe(), device.maxRdd(), device.maxMemoryWindows(),
                        device.maxRawIpv6QueuePairs(), device.maxRawEthernetQueuePairs(),
                        device.maxMulticastGroups(), device.maxMulticastQueuePairs(),
                        device.maxMulticastAttachments(), device.maxAddressHandles(),
                        device.maxFastRegions(), device.maxMapsPerFastRegion(),
                        device.maxSharedReceiveQueues(), device.maxSharedReceiveRequests(),
                        device.maxSharedReceiveScatterGather(), device.maxPartitions(),
                        device.localAckDelay(), device.physicalPorts())
                .map(QueryTest::numbers).flatMap(List::stream).toList();
    }

    private static List<Long> numbers(DeviceAttributesEx device) {
        return Stream.<Object>of(device.basic(), device.onDemandPaging(), device.completionTimestampMask(),
                        device.coreClock(), device.capabilities(), device.tso(), device.rss(),
                        device.maxReceiveWorkQueues(), device.packetPacing(), device.rawPacket(),
                        device.tagMatching(), device.moderation(), device.maxDeviceMemory(), device.pciAtomics(),
                        device.xrcOnDemandPaging(), device.physicalPorts())
                .map(QueryTest::numbers).flatMap(List::stream).toList();
    }

    private static List<Long> numbers(PortAttributes port) {
        return Stream.<Object>of(port.state(), port.maxMtu(), port.activeMtu(), port.gidTableLength(),
                        port.capabilities(), port.maxMessageSize(), port.badPartitionKeys(),
                        port.queueKeyViolations(), port.partitionKeyTableLength(), port.lid(),
                        port.subnetManagerLid(), port.lidMaskControl(), port.maxVirtualLanes(),
                        port.subnetManagerServiceLevel(), port.subnetTimeout(), port.initTypeReply(),
                        port.activeWidth(), port.activeSpeed(), port.physicalState(), port.linkLayer(),
                        port.globalRouteRequired(), port.extendedCapabilities(), port.activeSpeedEx())
                .map(QueryTest::numbers).flatMap(List::stream).toList();
    }

    @Test
    @Covers({"ibv_get_device_list", "ibv_free_device_list", "ibv_get_device_name", "ibv_get_device_guid",
            "ibv_get_device_index"})
    void aDeviceIsDescribed() throws RdmaException {
        FakeVerbs.devices(2);

        assertThat(Device.list()).containsExactly(
                new Device("fake0", "/sys/class/infiniband/fake0", 7, new Guid(0xf254_0000_0000_0000L + '0'),
                        NodeType.CA, TransportType.IB),
                new Device("fake1", "/sys/class/infiniband/fake1", 8, new Guid(0xf254_0000_0000_0000L + '1'),
                        NodeType.CA, TransportType.IB));

        assertThat(Device.list().getFirst()).hasToString("fake0 (CA, IB, f254:0000:0000:0030)");
    }

    @Test
    @Covers("ibv_get_device_list")
    void aKernelWithoutVerbsIsReported() {
        FakeVerbs.fail("ibv_get_device_list", Rdma.ENOSYS());

        // The hint depends on whether this machine has an RDMA device.
        assertThatThrownBy(Device::list).hasMessageStartingWith("ibv_get_device_list: ENOSYS").message()
                .containsAnyOf("this machine has no RDMA device (see `rdma link`)", "`modprobe ib_uverbs`");
    }

    @Test
    @Covers("ibv_query_device")
    void theAttributesOfADevice() throws RdmaException {
        DeviceAttributes attributes = context.queryDevice();

        assertThat(numbers(attributes)).isEqualTo(oracle("oracle_device"));
        assertThat(attributes.firmwareVersion()).isEqualTo("12.34.5678");
        assertThat(attributes.capabilities()).containsExactly(DeviceCapability.RESIZE_MAX_WR, DeviceCapability.XRC,
                DeviceCapability.MANAGED_FLOW_STEERING);
        assertThat(attributes.toString()).contains("firmwareVersion=12.34.5678", "nodeGuid=",
                "capabilities=[RESIZE_MAX_WR, XRC, MANAGED_FLOW_STEERING]", "atomicCapability=GLOB");
        assertThat(FakeVerbs.calls("ibv_query_device").getFirst().arguments()).startsWith(handle.address());
    }

    @Test
    @Covers("ibv_query_device_ex")
    void theExtendedAttributesOfADevice() throws RdmaException {
        DeviceAttributesEx attributes = context.queryDeviceEx();

        assertThat(numbers(attributes)).isEqualTo(oracle("oracle_device_ex"));
        assertThat(attributes.basic()).isEqualTo(context.queryDevice());
        assertThat(attributes.onDemandPaging().supported()).isFalse();
        assertThat(attributes.onDemandPaging().implicit()).isTrue();
        assertThat(attributes.rss().toeplitz()).isTrue();
        assertThat(attributes.capabilities()).containsExactly(DeviceCapability.MEM_WINDOW,
                DeviceCapability.RAW_SCATTER_FCS, DeviceCapability.PCI_WRITE_END_PADDING);
        assertThat(attributes.capabilities().unknownBits()).isEqualTo(1L << 60);
        assertThat(attributes.rss().hashFields()).containsExactly(RxHashField.DST_IPV6);
        FakeVerbs.Call call = FakeVerbs.calls("fake_query_device_ex").getFirst();
        assertThat(call.arguments()).startsWith(handle.address(), 0L).element(3).isEqualTo(ibv_device_attr_ex.sizeof());
    }

    @Test
    @Covers("ibv_query_device_ex")
    void withoutTheExtendedQueryOnlyTheBasicAttributesAreThere() throws RdmaException {
        DeviceAttributes basic = context.queryDevice();
        for (int error : new int[] {Rdma.EOPNOTSUPP(), Rdma.ENOSYS()}) {
            FakeVerbs.fail("fake_query_device_ex", error);
            assertBasicOnly(context.queryDeviceEx(), basic);
        }
        FakeVerbs.setExtendedOp(handle, "query_device_ex", 0);
        assertBasicOnly(context.queryDeviceEx(), basic);
    }

    private static void assertBasicOnly(DeviceAttributesEx attributes, DeviceAttributes basic) {
        assertThat(attributes.basic()).isEqualTo(basic);
        List<Long> all = numbers(attributes);
        assertThat(all.subList(numbers(basic).size(), all.size())).containsOnly(0L);
    }

    @Test
    @Covers("ibv_query_device_ex")
    void anyOtherErrorOfTheExtendedQueryIsOne() {
        FakeVerbs.fail("fake_query_device_ex", Rdma.EIO());

        assertThatThrownBy(() -> context.queryDeviceEx()).isInstanceOf(RdmaException.class)
                .hasMessageStartingWith("ibv_query_device_ex: EIO");
        assertThat(FakeVerbs.calls("ibv_query_device")).isEmpty();
    }

    @Test
    @Covers("ibv_query_port")
    void theAttributesOfAPort() throws RdmaException {
        PortAttributes attributes = context.queryPort(200);

        assertThat(numbers(attributes)).isEqualTo(oracle("oracle_port", 0));
        assertThat(attributes.toString()).contains("state=ACTIVE", "activeMtu=1024",
                "capabilities=[SM, IP_BASED_GIDS]", "linkLayer=ETHERNET", "globalRouteRequired=true",
                "extendedCapabilities=[VIRT_SUP, LINK_SPEED_NDR_SUP]");
        FakeVerbs.Call call = FakeVerbs.calls("fake_query_port").getFirst();
        assertThat(call.arguments()).startsWith(handle.address(), 200L).element(3).isEqualTo(ibv_port_attr.sizeof());
    }

    @Test
    @Covers("ibv_query_port")
    void anOlderDriverKnowsLessOfAPort() throws RdmaException {
        FakeVerbs.setExtendedOp(handle, "query_port", 0);

        PortAttributes attributes = context.queryPort(1);

        assertThat(numbers(attributes)).isEqualTo(oracle("oracle_port", 1));
        assertThat(attributes.extendedCapabilities()).isEmpty();
        assertThat(FakeVerbs.functions()).containsExactly("ibv_query_port");
        FakeVerbs.fail("ibv_query_port", Rdma.EINVAL());
        assertThatThrownBy(() -> context.queryPort(9)).hasMessageStartingWith("ibv_query_port (port 9): EINVAL");
    }

    @Test
    @Covers("ibv_query_port")
    void anOlderLibraryReportsNoSpeedBeyondNdr() throws RdmaException {
        assertThat(context.queryPort(1).speed()).isEqualTo(LinkSpeed.XDR);
        FakeVerbs.setExtendedOp(handle, "query_port", FakeVerbs.address("fake_query_port_44"));

        PortAttributes attributes = context.queryPort(1);

        assertThat(attributes.activeSpeedEx().code()).isZero();
        assertThat(attributes.speed()).isEqualTo(attributes.activeSpeed());
    }

    @Test
    @Covers("ibv_query_port_speed")
    void theSpeedOfAPort() throws RdmaException {
        FakeVerbs.result(0x8000_0000_0000_0001L);

        assertThat(context.queryPortSpeed(255)).isEqualTo(0x8000_0000_0000_0001L);

        assertThat(FakeVerbs.calls("ibv_query_port_speed").getFirst().arguments()).startsWith(handle.address(), 255L);
        FakeVerbs.fail("ibv_query_port_speed", Rdma.EOPNOTSUPP());
        assertThatExceptionOfType(RdmaUnsupportedException.class).isThrownBy(() -> context.queryPortSpeed(1))
                .withMessageStartingWith("ibv_query_port_speed (port 1): EOPNOTSUPP");
    }

    @Test
    @Covers("ibv_query_port")
    void aFailedQueryOfAPortNamesIt() {
        FakeVerbs.fail("fake_query_port", Rdma.EINVAL());

        assertThatThrownBy(() -> context.queryPort(3)).isInstanceOf(RdmaException.class)
                .hasMessageStartingWith("ibv_query_port (port 3): EINVAL");
    }

    @Test
    @Covers("ibv_query_gid")
    void aGidIsRead() throws RdmaException {
        byte[] bytes = new byte[Gid.BYTES];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (0x91 + 37 * i);
        }

        assertThat(context.queryGid(2, 70000)).isEqualTo(Gid.of(bytes));

        assertThat(FakeVerbs.calls("ibv_query_gid").getFirst().arguments()).startsWith(handle.address(), 2L, 70000L);
    }

    @Test
    @Covers("ibv_query_gid")
    void theErrorOfAQueryOfAGidIsNotTheErrnoThatHappensToBeThere() {
        FakeVerbs.fail("ibv_query_gid", 1);
        FakeVerbs.fail("_ibv_query_gid_ex", Rdma.EINVAL());

        assertThatThrownBy(() -> context.queryGid(1, 99)).isInstanceOf(RdmaException.class)
                .hasMessageStartingWith("ibv_query_gid (index 99 of port 1): EINVAL");
    }

    @Test
    @Covers({"ibv_query_gid_ex", "_ibv_query_gid_ex"})
    void anEntryOfTheTableOfGids() throws RdmaException {
        GidEntry entry = context.queryGidEx(1, 4);

        assertThat(entry.index()).isEqualTo(4);
        assertThat(entry.port()).isEqualTo(1);
        assertThat(entry.type()).isEqualTo(GidType.ROCE_V2);
        assertThat(entry.networkInterface()).isEqualTo(17);
        assertThat(entry.gid().toBytes()).startsWith(0x91, 0x91 + 37).endsWith(4);
        assertThat(FakeVerbs.calls("_ibv_query_gid_ex").getFirst().arguments())
                .startsWith(handle.address(), 1L, 4L).endsWith(0L, ibv_gid_entry.sizeof(), 0L, 0L);
        FakeVerbs.fail("_ibv_query_gid_ex", Rdma.ENODATA());
        assertThatThrownBy(() -> context.queryGidEx(1, 4))
                .hasMessageStartingWith("ibv_query_gid_ex (index 4 of port 1): ENODATA");
    }

    @Test
    @Covers({"ibv_query_gid_table", "_ibv_query_gid_table"})
    void theTableOfGids() throws RdmaException {
        assertThat(context.queryGidTable(300)).extracting(GidEntry::port).containsExactly(1, 2);
        assertThat(context.queryGidTable(2)).extracting(GidEntry::index).containsExactly(0, 5);

        assertThat(FakeVerbs.calls("_ibv_query_gid_table").getFirst().arguments())
                .startsWith(handle.address()).endsWith(300L, 0L, ibv_gid_entry.sizeof(), 0L, 0L, 0L);
        assertThat(context.queryGidTable(Integer.MAX_VALUE)).hasSize(2);
        assertThatThrownBy(() -> context.queryGidTable(0)).isInstanceOf(RdmaException.class)
                .hasMessageStartingWith("ibv_query_gid_table (at most 0 entries): EINVAL");
        FakeVerbs.fail("_ibv_query_gid_table", Rdma.EOPNOTSUPP());
        assertThatExceptionOfType(RdmaUnsupportedException.class).isThrownBy(() -> context.queryGidTable(8));
    }

    @Test
    @Covers({"ibv_query_pkey", "ibv_get_pkey_index"})
    void partitionKeysAreInTheByteOrderOfTheMachine() throws RdmaException {
        assertThat(context.queryPartitionKey(1, 6)).isEqualTo(0x8001);
        assertThat(context.partitionKeyIndex(1, 0x8001)).isEqualTo(3);
        assertThat(context.partitionKeyIndex(1, 0x0180)).isZero();
        // the default key
        assertThat(context.partitionKeyIndex(1, 0xffff)).isZero();

        FakeVerbs.fail("ibv_query_pkey", Rdma.ENOENT());
        assertThatThrownBy(() -> context.queryPartitionKey(1, 6)).hasMessageStartingWith("ibv_query_pkey: ENOENT");
        FakeVerbs.fail("ibv_get_pkey_index", Rdma.ENOENT());
        assertThatThrownBy(() -> context.partitionKeyIndex(1, 0)).hasMessageStartingWith("ibv_get_pkey_index: ENOENT");
    }

    @Test
    @Covers("ibv_query_rt_values_ex")
    void theClockOfADevice() throws RdmaException {
        FakeVerbs.result(Rdma.IBV_VALUES_MASK_RAW_CLOCK());

        assertThat(numbers(context.queryRealTimeValues())).isEqualTo(oracle("oracle_clock"));
        assertThat(FakeVerbs.calls("fake_query_rt_values").getFirst().data()).startsWith(
                Rdma.IBV_VALUES_MASK_RAW_CLOCK());
        FakeVerbs.result(0);
        assertThatExceptionOfType(RdmaUnsupportedException.class).isThrownBy(() -> context.queryRealTimeValues());
        FakeVerbs.setExtendedOp(handle, "query_rt_values", 0);
        assertThatExceptionOfType(RdmaUnsupportedException.class).isThrownBy(() -> context.queryRealTimeValues());
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 0, 256})
    void impossiblePortsAreRefusedBeforeAnyNativeCall(int port) {
        assertThatIllegalArgumentException().isThrownBy(() -> context.queryPort(port))
                .withMessage("ports are numbered from 1 to 255, not " + port);
        assertThatIllegalArgumentException().isThrownBy(() -> context.queryGid(port, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> context.queryPortSpeed(port));
        assertThatIllegalArgumentException().isThrownBy(() -> context.queryGidEx(port, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> context.queryPartitionKey(port, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> context.partitionKeyIndex(port, 0));
        assertThat(FakeVerbs.calls()).isEmpty();
    }

    @Test
    void impossibleNumbersAreRefusedBeforeAnyNativeCall() {
        assertThatIllegalArgumentException().isThrownBy(() -> context.queryGid(1, -1)).withMessageContaining("-1");
        assertThatIllegalArgumentException().isThrownBy(() -> context.queryGidEx(1, -1));
        assertThatIllegalArgumentException().isThrownBy(() -> context.queryPartitionKey(1, -1));
        assertThatIllegalArgumentException().isThrownBy(() -> context.partitionKeyIndex(1, 0x10000));
        assertThatIllegalArgumentException().isThrownBy(() -> context.partitionKeyIndex(1, -1));
        assertThatIllegalArgumentException().isThrownBy(() -> context.queryGidTable(-1));
        assertThat(FakeVerbs.calls()).isEmpty();
    }

    @Test
    @Covers("ibv_import_device")
    void aDeviceIsImportedWithADuplicateOfTheDescriptor() throws RdmaException {
        int nullDevice = (int) FakeVerbs.call("fake_open_null");
        try {
            try (VerbsContext imported = Device.importDevice(nullDevice)) {
                assertThat(imported.deviceName()).isEqualTo("fake0");
            }
            assertThat(FakeVerbs.calls("ibv_import_device").getFirst().arguments().getFirst())
                    .isNotEqualTo((long) nullDevice);
            long free = FakeVerbs.call("fake_lowest_free_descriptor");
            for (int error : new int[] {Rdma.EOPNOTSUPP(), Rdma.ENODEV(), Rdma.EIO()}) {
                FakeVerbs.fail("ibv_import_device", error);
                assertThatThrownBy(() -> Device.importDevice(nullDevice)).isInstanceOf(RdmaException.class)
                        .hasMessageStartingWith("ibv_import_device (file descriptor " + nullDevice + "): ");
            }
            assertThat(FakeVerbs.call("fake_lowest_free_descriptor")).describedAs("nothing left open").isEqualTo(free);
        } finally {
            FakeVerbs.call("close", nullDevice);
        }
        FakeVerbs.reset();
        assertThatIllegalArgumentException().isThrownBy(() -> Device.importDevice(nullDevice))
                .withMessage("file descriptor " + nullDevice + " does not refer to an RDMA device");
        assertThatIllegalArgumentException().isThrownBy(() -> Device.importDevice(-1));
        assertThat(FakeVerbs.calls("ibv_import_device")).isEmpty();
    }
}
