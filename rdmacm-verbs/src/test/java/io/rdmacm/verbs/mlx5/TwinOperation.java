// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import io.rdmacm.verbs.MemoryWindow;
import io.rdmacm.verbs.MemoryWindowBinding;
import io.rdmacm.verbs.ReceiveRequests;
import io.rdmacm.verbs.ScatterGatherList;
import io.rdmacm.verbs.SendBatch;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.work.AccessFlag;

/** The operations that are compared with those of {@code src/test/c/kernel/twin/operations.c}, by their names there. */
record TwinOperation(String name, TwinQueues queues, Step step) {
    private static final int ID = 7;
    private static final int INLINE = 128;
    private static final int IMMEDIATE = 0x0a0b0c0d;
    private static final int QUEUE_KEY = 0x11223344;
    private static final int REMOTE_QUEUE = 0x1234;
    private static final int TARGET = 0x777;
    private static final long TARGET_KEY = 0x1122334455667788L;
    private static final long EXPECTED = 0x0102030405060708L;
    private static final long REPLACEMENT = 0x1112131415161718L;
    private static final Set<AccessFlag> RIGHTS = EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ);

    /** What is posted. */
    @FunctionalInterface
    interface Step {
        void post(TwinEnd end) throws Exception;
    }

    @FunctionalInterface
    private interface BatchStep {
        void add(TwinEnd end, SendBatch batch) throws Exception;
    }

    @FunctionalInterface
    private interface DirectStep {
        void add(TwinEnd end, Mlx5Batch batch) throws Exception;
    }

    @FunctionalInterface
    private interface RequestStep {
        void fill(TwinEnd end, SendRequest request);
    }

    void post(TwinEnd end) throws Exception {
        step.post(end);
    }

    @Override
    public String toString() {
        return name;
    }

    static List<TwinOperation> all() {
        List<TwinOperation> all = new ArrayList<>();
        all.addAll(sends());
        all.addAll(remote());
        all.addAll(otherTypes());
        all.addAll(dynamicConnections());
        all.addAll(keys());
        all.addAll(rawEntries());
        all.addAll(posted());
        all.addAll(postedToOtherTypes());
        all.addAll(receives());
        return all;
    }

    private static List<TwinOperation> sends() {
        return List.of(
                batch("send", TwinQueues.RC, (end, to) -> to.send().data(end.region, 8, 48)),
                batch("send, unsignaled", TwinQueues.RC, (end, to) -> to.signaled(false).send()
                        .data(end.region, 8, 48)),
                batch("send, solicited", TwinQueues.RC, (end, to) -> to.solicited(true).send()
                        .data(end.region, 8, 48)),
                batch("send, fence", TwinQueues.RC, (end, to) -> to.fence(true).send().data(end.region, 8, 48)),
                batch("send with immediate", TwinQueues.RC, (end, to) -> to.sendWithImmediate(IMMEDIATE)
                        .data(end.region, 0, 64)),
                batch("send with invalidate", TwinQueues.RC, (end, to) -> to
                        .sendWithInvalidate(end.region.remoteKey()).data(end.region, 0, 64)),
                batch("send of a list", TwinQueues.RC, (end, to) -> to.send().data(three(end))),
                batch("send of nothing", TwinQueues.RC, (end, to) -> to.send().data(ScatterGatherList.allocate(1))),
                batch("send inline", TwinQueues.RC, (end, to) -> to.inline(true).send()
                        .inlineData(end.region, 5, 23)),
                batch("send inline, as much as there is room for", TwinQueues.RC, (end, to) -> to.inline(true).send()
                        .inlineData(end.region, 1, INLINE)),
                batch("send inline of a list", TwinQueues.RC, (end, to) -> to.inline(true).send()
                        .inlineData(ScatterGatherList.allocate(2).set(0, end.region, 0, 7)
                                .set(1, end.region, 50, 13))),
                batch("several in a batch", TwinQueues.RC, (end, to) -> {
                    to.send().data(end.region, 8, 48);
                    to.id(ID + 1).signaled(false).rdmaWrite(end.remote(), end.region.remoteKey())
                            .data(end.region, 16, 100);
                    to.id(ID + 2).inline(true).send().inlineData(end.region, 0, 90);
                    to.id(ID + 3).inline(false).signaled(true).rdmaRead(end.remote(), end.region.remoteKey())
                            .data(end.region, 0, 8);
                }));
    }

    private static List<TwinOperation> remote() {
        return List.of(
                batch("write", TwinQueues.RC, (end, to) -> to.rdmaWrite(end.remote(), end.region.remoteKey())
                        .data(end.region, 16, 100)),
                batch("write of a list", TwinQueues.RC, (end, to) -> to
                        .rdmaWrite(end.remote(), end.region.remoteKey()).data(three(end))),
                batch("write inline", TwinQueues.RC, (end, to) -> to.inline(true)
                        .rdmaWrite(end.remote(), end.region.remoteKey()).inlineData(end.region, 9, 31)),
                batch("write with immediate", TwinQueues.RC, TwinOperation::writeWithImmediate),
                batch("read", TwinQueues.RC, (end, to) -> to.rdmaRead(end.remote(), end.region.remoteKey())
                        .data(end.region, 16, 100)),
                batch("read into a list", TwinQueues.RC, (end, to) -> to
                        .rdmaRead(end.remote(), end.region.remoteKey()).data(three(end))),
                batch("compare and swap", TwinQueues.RC, (end, to) -> to.compareAndSwap(end.remote(),
                        end.region.remoteKey(), EXPECTED, REPLACEMENT).data(end.region, 64, 8)),
                batch("fetch and add", TwinQueues.RC, (end, to) -> to.fetchAndAdd(end.remote(),
                        end.region.remoteKey(), EXPECTED).data(end.region, 64, 8)),
                batch("local invalidate", TwinQueues.RC, (end, to) -> to.localInvalidate(end.window.remoteKey())),
                batch("bind a window", TwinQueues.RC, (end, to) -> to.bindMemoryWindow(end.window,
                        MemoryWindow.incrementKey(end.window.remoteKey()), binding(end))));
    }

    private static List<TwinOperation> otherTypes() {
        return List.of(
                batch("send, UC", TwinQueues.UC, (end, to) -> to.send().data(end.region, 8, 48)),
                batch("write with immediate, UC", TwinQueues.UC, TwinOperation::writeWithImmediate),
                batch("datagram", TwinQueues.UD, (end, to) -> datagram(end, to.send()).data(end.region, 8, 48)),
                batch("datagram with immediate", TwinQueues.UD, (end, to) -> datagram(end,
                        to.sendWithImmediate(IMMEDIATE)).data(end.region, 8, 48)),
                batch("datagram inline", TwinQueues.UD, (end, to) -> datagram(end, to.inline(true).send())
                        .inlineData(end.region, 5, 23)),
                batch("datagram of a list", TwinQueues.UD, (end, to) -> datagram(end, to.send()).data(three(end))),
                batch("send, XRC", TwinQueues.XRC, (end, to) -> to.send().remoteSharedReceiveQueue(REMOTE_QUEUE)
                        .data(end.region, 8, 48)),
                batch("write, XRC", TwinQueues.XRC, (end, to) -> to
                        .rdmaWrite(end.remote(), end.region.remoteKey()).remoteSharedReceiveQueue(REMOTE_QUEUE)
                        .data(end.region, 8, 48)));
    }

    private static List<TwinOperation> dynamicConnections() {
        return List.of(
                toTarget("send, DC", (end, to) -> to.send()),
                direct("send inline, DC", TwinQueues.DCI, (end, to) -> {
                    to.inline(true).send();
                    to.dct(end.address, TARGET, TARGET_KEY);
                    to.inlineData(end.region, 5, 23);
                }),
                toTarget("send with immediate, DC", (end, to) -> to.sendWithImmediate(IMMEDIATE)),
                toTarget("write, DC", (end, to) -> to.rdmaWrite(end.remote(), end.region.remoteKey())),
                toTarget("read, DC", (end, to) -> to.rdmaRead(end.remote(), end.region.remoteKey())),
                direct("compare and swap, DC", TwinQueues.DCI, (end, to) -> {
                    to.compareAndSwap(end.remote(), end.region.remoteKey(), 1, 2);
                    to.dct(end.address, TARGET, TARGET_KEY);
                    to.data(end.region, 64, 8);
                }),
                direct("fetch and add, DC", TwinQueues.DCI, (end, to) -> {
                    to.fetchAndAdd(end.remote(), end.region.remoteKey(), 3);
                    to.dct(end.address, TARGET, TARGET_KEY);
                    to.data(end.region, 64, 8);
                }),
                direct("send in a stream, DC", TwinQueues.DCI_STREAMS, (end, to) -> {
                    to.send();
                    to.dct(end.address, TARGET, TARGET_KEY, 3);
                    to.data(end.region, 8, 48);
                }));
    }

    private static List<TwinOperation> keys() {
        return List.of(
                direct("key for interleaved memory", TwinQueues.UMR, (end, to) -> to.register(end.key,
                        interleaved(end), RIGHTS)),
                direct("key for a list", TwinQueues.UMR, (end, to) -> to.register(end.key, scattered(end), RIGHTS)),
                direct("configure a key, list", TwinQueues.UMR, (end, to) -> to.configure(end.key,
                        MkeyConfiguration.create().access(RIGHTS.toArray(AccessFlag[]::new))
                                .layout(scattered(end)))),
                direct("configure a key, interleaved memory", TwinQueues.UMR, (end, to) -> to.configure(end.key,
                        MkeyConfiguration.create().access(RIGHTS.toArray(AccessFlag[]::new))
                                .layout(interleaved(end)))),
                direct("configure a key, access", TwinQueues.UMR, (end, to) -> to.configure(end.key,
                        MkeyConfiguration.create().access(AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_ATOMIC,
                                AccessFlag.LOCAL_WRITE))),
                direct("key for a list, and a send of it", TwinQueues.UMR, (end, to) -> {
                    to.register(end.key, scattered(end), RIGHTS);
                    to.id(ID + 1).fence(true).send();
                    to.data(end.key, 0, 300);
                }));
    }

    private static List<TwinOperation> rawEntries() {
        return List.of(
                direct("raw masked fetch and add", TwinQueues.UMR, (end, to) -> to.raw(Wqe.maskedFetchAndAdd(
                        end.pair.number(), place(end), bytes(0x0000000100000002L), bytes(0x8000000080000000L)))),
                direct("raw masked fetch and add of 32 bytes", TwinQueues.UMR, (end, to) -> to.raw(
                        Wqe.maskedFetchAndAdd(end.pair.number(), place(end),
                                wide(0x0100000000000000L, 0, 0, 0x0203), wide(0x8000000000000000L, 0, 0, 0x40)))),
                direct("raw masked compare and swap", TwinQueues.UMR, (end, to) -> to.raw(
                        Wqe.maskedCompareAndSwap(end.pair.number(), place(end), bytes(0x22), bytes(0x0ff0),
                                bytes(0x11), bytes(0xff00)))),
                direct("raw masked compare and swap of 16 bytes", TwinQueues.UMR, (end, to) -> to.raw(
                        Wqe.maskedCompareAndSwap(end.pair.number(), place(end), wide(0, 2),
                                wide(0x0400000000000000L, 0), wide(0, 1), wide(0x0300000000000000L, 0)))),
                direct("raw wait", TwinQueues.UMR, (end, to) -> to.raw(Wqe.waitFor(end.pair.number(), 0x123,
                        5))),
                direct("raw send enable", TwinQueues.UMR, (end, to) -> to.raw(Wqe.enableSends(
                        end.pair.number(), 0x321, 9))));
    }

    private static List<TwinOperation> posted() {
        return List.of(
                request("post send", TwinQueues.CLASSIC_RC, (end, to) -> to.send().data(end.region, 8, 48)),
                request("post send, unsignaled", TwinQueues.CLASSIC_RC, (end, to) -> to.send()
                        .data(end.region, 8, 48).signaled(false)),
                request("post send, solicited", TwinQueues.CLASSIC_RC, (end, to) -> to.send()
                        .data(end.region, 8, 48).solicited(true)),
                request("post send, fence", TwinQueues.CLASSIC_RC, (end, to) -> to.send().data(end.region, 8, 48)
                        .fence(true)),
                request("post send with immediate", TwinQueues.CLASSIC_RC, (end, to) -> to
                        .sendWithImmediate(IMMEDIATE).data(end.region, 8, 48)),
                request("post send with invalidate", TwinQueues.CLASSIC_RC, (end, to) -> to
                        .sendWithInvalidate(end.region.remoteKey()).data(end.region, 8, 48)),
                request("post send of a list", TwinQueues.CLASSIC_RC, (end, to) -> three(end, to.send())),
                request("post send inline", TwinQueues.CLASSIC_RC, (end, to) -> to.send().data(end.region, 5, 23)
                        .inline(true)),
                request("post send inline of a list", TwinQueues.CLASSIC_RC, (end, to) -> three(end, to.send())
                        .inline(true)),
                request("post write", TwinQueues.CLASSIC_RC, (end, to) -> to.rdmaWrite(end.remote(),
                        end.region.remoteKey()).data(end.region, 16, 100)),
                request("post write inline", TwinQueues.CLASSIC_RC, (end, to) -> to.rdmaWrite(end.remote(),
                        end.region.remoteKey()).data(end.region, 9, 31).inline(true)),
                request("post write with immediate", TwinQueues.CLASSIC_RC, (end, to) -> to.rdmaWriteWithImmediate(
                        end.remote(), end.region.remoteKey(), IMMEDIATE).data(end.region, 16, 100)),
                request("post read", TwinQueues.CLASSIC_RC, (end, to) -> to.rdmaRead(end.remote(),
                        end.region.remoteKey()).data(end.region, 16, 100)),
                request("post compare and swap", TwinQueues.CLASSIC_RC, (end, to) -> to.compareAndSwap(end.remote(),
                        end.region.remoteKey(), EXPECTED, REPLACEMENT).data(end.region, 64, 8)),
                request("post fetch and add", TwinQueues.CLASSIC_RC, (end, to) -> to.fetchAndAdd(end.remote(),
                        end.region.remoteKey(), EXPECTED).data(end.region, 64, 8)),
                request("post local invalidate", TwinQueues.CLASSIC_RC, (end, to) -> to
                        .localInvalidate(end.window.remoteKey())),
                request("post bind a window", TwinQueues.CLASSIC_RC, (end, to) -> to.bindMemoryWindow(end.window,
                        MemoryWindow.incrementKey(end.window.remoteKey()), binding(end))),
                new TwinOperation("post several", TwinQueues.CLASSIC_RC, TwinOperation::postSeveral));
    }

    private static List<TwinOperation> postedToOtherTypes() {
        return List.of(
                request("post send, UC", TwinQueues.CLASSIC_UC, (end, to) -> to.send().data(end.region, 8, 48)),
                request("post datagram", TwinQueues.CLASSIC_UD, (end, to) -> to.send().data(end.region, 8, 48)
                        .datagram(end.address, end.pair.number(), QUEUE_KEY)),
                request("post datagram inline", TwinQueues.CLASSIC_UD, (end, to) -> to.send()
                        .data(end.region, 5, 23).inline(true)
                        .datagram(end.address, end.pair.number(), QUEUE_KEY)),
                request("post send, XRC", TwinQueues.CLASSIC_XRC, (end, to) -> to.send().data(end.region, 8, 48)
                        .remoteSharedReceiveQueue(REMOTE_QUEUE)));
    }

    private static List<TwinOperation> receives() {
        return List.of(
                new TwinOperation("receive", TwinQueues.CLASSIC_RC, end -> end.pair.postReceive(receives(end), 0, 2)),
                new TwinOperation("shared receive", TwinQueues.SHARED, end -> end.shared()
                        .postReceive(receives(end), 0, 2)),
                new TwinOperation("notify", TwinQueues.CLASSIC_RC, end -> end.completions
                        .requestNotification(false)),
                new TwinOperation("notify, solicited only", TwinQueues.CLASSIC_RC, end -> end.completions
                        .requestNotification(true)));
    }

    private static TwinOperation batch(String name, TwinQueues queues, BatchStep step) {
        return new TwinOperation(name, queues, end -> {
            try (SendBatch batch = end.pair.startBatch()) {
                step.add(end, batch.id(ID));
                batch.complete();
            }
        });
    }

    private static TwinOperation direct(String name, TwinQueues queues, DirectStep step) {
        return new TwinOperation(name, queues, end -> {
            try (Mlx5Batch batch = end.direct().startBatch()) {
                batch.id(ID);
                step.add(end, batch);
                batch.complete();
            }
        });
    }

    private static TwinOperation toTarget(String name, BatchStep step) {
        return direct(name, TwinQueues.DCI, (end, to) -> {
            step.add(end, to);
            to.dct(end.address, TARGET, TARGET_KEY);
            to.data(end.region, 8, 48);
        });
    }

    private static TwinOperation request(String name, TwinQueues queues, RequestStep step) {
        return new TwinOperation(name, queues, end -> {
            SendRequest request = SendRequests.allocate(1, 3).get(0).id(ID);
            step.fill(end, request);
            end.pair.postSend(request);
        });
    }

    private static void postSeveral(TwinEnd end) throws Exception {
        SendRequests requests = SendRequests.allocate(3, 1);
        requests.get(0).id(ID).send().data(end.region, 0, 16).signaled(false);
        requests.get(1).id(ID + 1).rdmaWrite(end.remote(), end.region.remoteKey()).data(end.region, 32, 48)
                .signaled(false);
        requests.get(2).id(ID + 2).send().data(end.region, 0, 70).inline(true);
        end.pair.postSend(requests, 0, 3);
    }

    private static void writeWithImmediate(TwinEnd end, SendBatch to) {
        to.rdmaWriteWithImmediate(end.remote(), end.region.remoteKey(), IMMEDIATE).data(end.region, 16, 100);
    }

    private static SendBatch datagram(TwinEnd end, SendBatch to) {
        return to.datagram(end.address, end.pair.number(), QUEUE_KEY);
    }

    private static ScatterGatherList three(TwinEnd end) {
        return ScatterGatherList.allocate(3).set(0, end.region, 0, 10).set(1, end.region, 100, 20)
                .set(2, end.region, 300, 30);
    }

    private static SendRequest three(TwinEnd end, SendRequest to) {
        return to.data(0, end.region, 0, 10).data(1, end.region, 100, 20).data(2, end.region, 300, 30);
    }

    private static ReceiveRequests receives(TwinEnd end) {
        ReceiveRequests requests = ReceiveRequests.allocate(2, 3);
        requests.get(0).id(ID).data(end.region, 0, 64);
        requests.get(1).id(ID + 1).data(0, end.region, 64, 10).data(1, end.region, 128, 20)
                .data(2, end.region, 256, 30);
        return requests;
    }

    private static MemoryWindowBinding binding(TwinEnd end) {
        return MemoryWindowBinding.of(end.region, 128, 256, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
    }

    private static InterleavedLayout interleaved(TwinEnd end) {
        return InterleavedLayout.of(8, new InterleavedLayout.Part(end.region, 32, 16, 240),
                new InterleavedLayout.Part(end.region, 4096, 64, 0));
    }

    private static ListLayout scattered(TwinEnd end) {
        return ListLayout.of(new ListLayout.Part(end.region, 0, 100), new ListLayout.Part(end.region, 8192, 200));
    }

    private static Wqe.AtomicPlace place(TwinEnd end) {
        return new Wqe.AtomicPlace(end.remote(), end.region.remoteKey(), end.region, 64);
    }

    private static byte[] bytes(long value) {
        return wide(value);
    }

    private static byte[] wide(long... values) {
        ByteBuffer bytes = ByteBuffer.allocate(values.length * Long.BYTES);
        for (long value : values) {
            bytes.putLong(value);
        }
        return bytes.array();
    }
}
