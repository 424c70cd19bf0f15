// SPDX-License-Identifier: Apache-2.0
// Runs with io.grpc:grpc-netty-shaded:1.85.1 io.grpc:grpc-stub:1.85.1

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;

/** A gRPC server and client over its own Netty, which is to be told to leave epoll alone. */
public final class Grpc implements Program {
    private static final MethodDescriptor.Marshaller<byte[]> BYTES = new MethodDescriptor.Marshaller<>() {
        @Override
        public InputStream stream(byte[] value) {
            return new ByteArrayInputStream(value);
        }

        @Override
        public byte[] parse(InputStream stream) {
            try {
                return stream.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    };
    private static final MethodDescriptor<byte[], byte[]> ECHO = MethodDescriptor.<byte[], byte[]>newBuilder()
            .setType(MethodDescriptor.MethodType.UNARY).setFullMethodName("test.Test/Echo")
            .setRequestMarshaller(BYTES).setResponseMarshaller(BYTES).build();

    public static void main(String[] arguments) throws Exception {
        System.setProperty("io.grpc.netty.shaded.io.netty.transport.noNative", "true");
        Program.run(new Grpc(), arguments);
    }

    @Override
    public int serve(String address) throws Exception {
        Server server = NettyServerBuilder.forAddress(new InetSocketAddress(address, 0))
                .addService(ServerServiceDefinition.builder("test.Test")
                        .addMethod(ECHO, ServerCalls.asyncUnaryCall((request, observer) -> {
                            observer.onNext(request);
                            observer.onCompleted();
                        })).build())
                .build().start();
        return server.getPort();
    }

    @Override
    public Client client(String address, int port) {
        ManagedChannel channel = NettyChannelBuilder.forAddress(address, port).usePlaintext().build();
        return (data, times) -> {
            for (int i = 0; i < times; i++) {
                Program.check(data, ClientCalls.blockingUnaryCall(channel, ECHO, CallOptions.DEFAULT, data));
            }
        };
    }
}
