// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ManagedChannel;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import io.netty.channel.EventLoopGroup;
import io.rdmacm.examples.testing.Program;
import io.rdmacm.netty.RdmaByteBufAllocator;
import io.rdmacm.netty.testing.NoLeaks;
import io.rdmacm.verbs.testing.Nightly;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.testing.ResourceCounts;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** gRPC over RDMA, with both event loops, and, where it is quick, over TCP, where the same has to happen. */
@RequiresRdma
@ExtendWith(NoLeaks.class)
class GrpcDeviceTest {
    private static final int MEBIBYTE = 1 << 20;
    // More than the window of a call, which is 1 MiB at first; and much more.
    private static final Amount MORE = new Amount(Integer.getInteger("io.rdmacm.grpcMebibytes", 3), MEBIBYTE);
    private static final Amount MUCH = new Amount(8, MEBIBYTE);
    private static final int CALLS = 200;

    private final CountDownLatch cancelled = new CountDownLatch(1);

    @ParameterizedTest
    @EnumSource
    void saysHello(Transport transport) throws Exception {
        try (Connected connected = new Connected(transport, new Greeter().bindService())) {
            assertThat(connected.client().hello("reader")).isEqualTo("Hello reader");
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"RDMA", "EPOLL"})
    void manyCallsShareAConnection(Transport transport) throws Exception {
        try (Connected connected = new Connected(transport, new Greeter().bindService())) {
            List<Future<String>> answers = new ArrayList<>();
            for (int i = 0; i < CALLS; i++) {
                answers.add(ClientCalls.futureUnaryCall(connected.channel().newCall(Methods.HELLO,
                        CallOptions.DEFAULT), "number " + i));
            }
            for (int i = 0; i < CALLS; i++) {
                assertThat(answers.get(i).get(Program.LIMIT.toSeconds(), TimeUnit.SECONDS))
                        .isEqualTo("Hello number " + i);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"RDMA", "EPOLL"})
    void streams(Transport transport) throws Exception {
        try (Connected connected = new Connected(transport, new Greeter().bindService())) {
            assertStreams(connected.client(), MORE);
            assertStreams(connected.client(), new Amount(CALLS, 100));
            assertStreams(connected.client(), new Amount(0, 0));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"RDMA", "EPOLL"})
    void streamsFromRegisteredMemory(Transport transport) throws Exception {
        try (Connected connected = new Connected(transport, new Greeter().bindService(),
                new RdmaByteBufAllocator())) {
            assertStreams(connected.client(), MORE);
        }
    }

    private static void assertStreams(GreeterClient client, Amount amount) throws Exception {
        String expected = amount.tally().toString();
        assertThat(client.download(amount)).isEqualTo(expected);
        assertThat(client.upload(amount)).isEqualTo(expected);
        assertThat(client.echo(amount)).isEqualTo(expected);
    }

    @ParameterizedTest
    @EnumSource(names = {"RDMA", "EPOLL"})
    void aSenderWaitsForASlowReader(Transport transport) throws Exception {
        AtomicInteger sent = new AtomicInteger();
        CountDownLatch full = new CountDownLatch(1);
        ServerServiceDefinition service = ServerServiceDefinition.builder(Methods.SERVICE)
                .addMethod(Methods.HELLO, ServerCalls.asyncUnaryCall(GrpcDeviceTest::hello))
                .addMethod(Methods.DOWNLOAD, ServerCalls.asyncServerStreamingCall((amount, answers) -> {
                    ServerCallStreamObserver<byte[]> call = (ServerCallStreamObserver<byte[]>) answers;
                    call.setOnReadyHandler(() -> sendWhileReady(call, amount, sent, full));
                })).build();
        try (Connected connected = new Connected(transport, service)) {
            Recorded<Amount, byte[]> reader = Recorded.waiting();
            ClientCalls.asyncServerStreamingCall(connected.channel().newCall(Methods.DOWNLOAD, CallOptions.DEFAULT),
                    MUCH, reader);
            await(full);
            // Other calls on the connection go on.
            assertThat(connected.client().hello("meanwhile")).isEqualTo("Hello meanwhile");
            assertThat(sent.get()).isLessThanOrEqualTo(MUCH.messages() / 2);

            reader.call().request(MUCH.messages());
            Tally tally = new Tally();
            for (int i = 0; i < MUCH.messages(); i++) {
                tally.add(reader.answer());
            }
            assertThat(tally.toString()).isEqualTo(MUCH.tally().toString());
            assertThat(reader.end()).isEqualTo(Status.OK);
        }
    }

    private static void sendWhileReady(ServerCallStreamObserver<byte[]> call, Amount amount, AtomicInteger sent,
            CountDownLatch full) {
        while (call.isReady()) {
            if (sent.get() == amount.messages()) {
                call.onCompleted();
                return;
            }
            call.onNext(amount.message(sent.getAndIncrement()));
        }
        full.countDown();
    }

    @ParameterizedTest
    @EnumSource
    void theServerLearnsThatAClientCancels(Transport transport) throws Exception {
        try (Connected connected = new Connected(transport, echoUntilCancelled())) {
            Recorded<byte[], byte[]> call = open(connected.channel());
            call.call().cancel("enough", null);

            assertThat(call.end().getCode()).isEqualTo(Status.Code.CANCELLED);
            await(cancelled);
            assertStillWorks(connected);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aDeadlineEndsACall(Transport transport) throws Exception {
        try (Connected connected = new Connected(transport, echoUntilCancelled())) {
            Recorded<byte[], byte[]> call = Recorded.taking();
            ClientCalls.asyncBidiStreamingCall(connected.channel().newCall(Methods.ECHO,
                    CallOptions.DEFAULT.withDeadlineAfter(500, TimeUnit.MILLISECONDS)), call);

            assertThat(call.end().getCode()).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
            assertStillWorks(connected);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aServerThatShutsDownCompletesItsCalls(Transport transport) throws Exception {
        try (Connected connected = new Connected(transport, new Greeter().bindService())) {
            Recorded<byte[], byte[]> call = open(connected.channel());
            connected.server().shutdown();
            call.call().onNext(new byte[MEBIBYTE]);
            assertThat(call.answer()).hasSize(MEBIBYTE);
            call.call().onCompleted();
            assertThat(call.end()).isEqualTo(Status.OK);
            assertThat(connected.server().awaitTermination(Program.LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();

            assertUnavailable(connected.client());
        }
    }

    @ParameterizedTest
    @EnumSource
    void aServerThatShutsDownAtOnceCancelsItsCalls(Transport transport) throws Exception {
        try (Connected connected = new Connected(transport, new Greeter().bindService())) {
            Recorded<byte[], byte[]> call = open(connected.channel());
            connected.server().shutdownNow();

            // TCP resets a connection that is closed before all was read, and what was sent is lost.
            assertThat(call.end().getCode()).isIn(Status.Code.CANCELLED,
                    transport == Transport.TCP ? Status.Code.UNAVAILABLE : Status.Code.CANCELLED);
            assertUnavailable(connected.client());
        }
    }

    // Not over TCP too, because the server takes long to start.
    @Nightly
    @ParameterizedTest
    @EnumSource(names = "RDMA")
    void aServerThatIsKilledIsUnavailable(Transport transport) throws Exception {
        EventLoopGroup loops = transport.loops();
        String host = RdmaTestDevice.get().ipv4().getHostAddress();
        List<String> command = new ArrayList<>(Program.javaCommand(GreeterServer.class));
        command.addAll(List.of(host, transport.name()));
        try (Program server = Program.process(command.toArray(String[]::new))) {
            int port = Integer.parseInt(server.awaitOutput("listening on port (\\d+)").group(1));
            ManagedChannel channel = transport.client(new InetSocketAddress(host, port), loops).build();
            try {
                Recorded<byte[], byte[]> call = open(channel);
                server.kill();

                assertThat(call.end().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
                assertUnavailable(new GreeterClient(channel));
            } finally {
                channel.shutdownNow().awaitTermination(Program.LIMIT.toSeconds(), TimeUnit.SECONDS);
            }
        } finally {
            loops.shutdownGracefully(0, Program.LIMIT.toSeconds(), TimeUnit.SECONDS).sync();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"RDMA", "EPOLL"})
    void nothingIsLeaked(Transport transport) throws Exception {
        runOnce(transport);
        runOnce(transport);
        ResourceCounts before = ResourceCounts.settled(Program.LIMIT);
        for (int i = 0; i < 5; i++) {
            runOnce(transport);
        }
        // Streams are freed in the background.
        ResourceCounts after = ResourceCounts.await(counts -> counts.files() <= before.files()
                && counts.objects() <= before.objects(), Program.LIMIT);
        assertThat(after.files()).isLessThanOrEqualTo(before.files());
        assertThat(after.objects()).isLessThanOrEqualTo(before.objects());
    }

    private static void runOnce(Transport transport) throws Exception {
        try (Connected connected = new Connected(transport, new Greeter().bindService(), new RdmaByteBufAllocator())) {
            assertThat(connected.client().echo(new Amount(10, 10_000))).startsWith("10 messages");
            open(connected.channel());
        }
    }

    /** Returns a service whose calls of Echo end only when the client ends them. */
    private ServerServiceDefinition echoUntilCancelled() {
        return ServerServiceDefinition.builder(Methods.SERVICE)
                .addMethod(Methods.HELLO, ServerCalls.asyncUnaryCall(GrpcDeviceTest::hello))
                .addMethod(Methods.ECHO, ServerCalls.asyncBidiStreamingCall(answers -> {
                    ((ServerCallStreamObserver<byte[]>) answers).setOnCancelHandler(cancelled::countDown);
                    return new StreamObserver<>() {
                        @Override
                        public void onNext(byte[] message) {
                            answers.onNext(message);
                        }

                        @Override
                        public void onError(Throwable failure) {
                            // the handler of cancellations is called
                        }

                        @Override
                        public void onCompleted() {
                            // waits
                        }
                    };
                })).build();
    }

    private static void hello(String name, StreamObserver<String> answers) {
        answers.onNext("Hello " + name);
        answers.onCompleted();
    }

    /** Returns a call of Echo that has reached the server. */
    private static Recorded<byte[], byte[]> open(Channel channel) throws InterruptedException {
        Recorded<byte[], byte[]> call = Recorded.taking();
        ClientCalls.asyncBidiStreamingCall(channel.newCall(Methods.ECHO, CallOptions.DEFAULT), call);
        call.call().onNext(new byte[] {1});
        assertThat(call.answer()).containsExactly(1);
        return call;
    }

    private static void assertStillWorks(Connected connected) {
        assertThat(connected.client().hello("again")).isEqualTo("Hello again");
    }

    private static void assertUnavailable(GreeterClient client) {
        assertThatThrownBy(() -> client.hello("anybody")).isInstanceOfSatisfying(StatusRuntimeException.class,
                failed -> assertThat(failed.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE));
    }

    private static void await(CountDownLatch latch) throws InterruptedException {
        assertThat(latch.await(Program.LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }
}
