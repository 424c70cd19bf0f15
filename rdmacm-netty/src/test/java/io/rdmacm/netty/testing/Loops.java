// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty.testing;

import java.lang.reflect.Field;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Set;
import java.util.function.Consumer;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.util.concurrent.SingleThreadEventExecutor;
import io.rdmacm.core.connection.WaitPolicy;
import io.rdmacm.netty.RdmaIoHandler;
import io.rdmacm.netty.RdmaServerStreamChannel;
import io.rdmacm.verbs.testing.RdmaTestDevice;

/** The event loops that the tests run with. */
public enum Loops {
    /** Netty's handler of epoll, unmodified. */
    EPOLL {
        @Override
        public IoHandlerFactory factory() {
            return EpollIoHandler.newFactory();
        }
    },
    /** Our own handler, as it is by default. */
    RDMA {
        @Override
        public IoHandlerFactory factory() {
            return RdmaIoHandler.newFactory();
        }
    },
    /** Our own handler, which never sleeps. */
    SPINNING {
        @Override
        public IoHandlerFactory factory() {
            return RdmaIoHandler.newFactory(WaitPolicy.spinAlways());
        }
    };

    /** Returns a factory of handlers. */
    public abstract IoHandlerFactory factory();

    /** Returns a group of one event loop. */
    public EventLoopGroup group() {
        return new MultiThreadIoEventLoopGroup(1, factory());
    }

    /** Returns how many actions are to run at the end of an event loop. */
    public static int hooks(EventLoop loop) throws ReflectiveOperationException, InterruptedException {
        Field hooks = SingleThreadEventExecutor.class.getDeclaredField("shutdownHooks");
        hooks.setAccessible(true);
        return loop.submit(() -> ((Set<?>) hooks.get(loop)).size()).sync().getNow();
    }

    /** Returns a server that does something with each channel that it accepts. */
    public static ServerBootstrap server(EventLoopGroup group, Consumer<Channel> child) {
        return new ServerBootstrap().group(group).channel(RdmaServerStreamChannel.class)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        child.accept(channel);
                    }
                });
    }

    /** Returns any free port of the device under test. */
    public static InetSocketAddress anyPort() {
        return new InetSocketAddress(RdmaTestDevice.get().ipv4(), 0);
    }

    /** An address of the network of the device that nobody has. */
    public static InetSocketAddress silent() throws UnknownHostException {
        RdmaTestDevice.assumeNotIwarp("SoftiWARP waits in the system call until TCP gives up");
        byte[] address = RdmaTestDevice.get().ipv4().getAddress();
        address[3] = (byte) 213;
        return new InetSocketAddress(InetAddress.getByAddress(address), 4);
    }
}
