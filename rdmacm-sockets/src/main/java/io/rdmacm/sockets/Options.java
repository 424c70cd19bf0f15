// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import java.io.IOException;
import java.net.SocketOption;
import java.nio.channels.NetworkChannel;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * The options that a program has set: for a socket that may yet become one over RDMA, and those of TCP that it has no
 * use for there, which are only remembered.
 */
final class Options {
    private final Map<SocketOption<?>, Object> defaults;
    // guarded by this
    private final Map<SocketOption<?>, Object> values = new LinkedHashMap<>();

    /**
     * None that are set.
     *
     * @param defaults the options that sockets over TCP have, and their values
     */
    Options(Map<SocketOption<?>, Object> defaults) {
        this.defaults = defaults;
    }

    /** Takes note of an option that was set. */
    synchronized void put(SocketOption<?> option, Object value) {
        values.put(option, value);
    }

    /** Gives a channel over RDMA those that it knows. */
    synchronized void applyTo(NetworkChannel rdma) {
        values.forEach((option, value) -> hint(rdma, option, value));
    }

    /** Sets an option if the channel knows it and its value: otherwise it is a hint that cannot be followed. */
    @SuppressWarnings("unchecked")
    static <T> void hint(NetworkChannel rdma, SocketOption<T> option, Object value) {
        if (rdma.supportedOptions().contains(option)) {
            try {
                rdma.setOption(option, (T) value);
            } catch (IOException | IllegalArgumentException e) {
                // It has another range for it.
                return;
            }
        }
    }

    /** Sets an option of a channel, or remembers it, if RDMA does not know it or the channel has lost a race. */
    <T> void set(NetworkChannel channel, SocketOption<T> option, T value) throws IOException {
        if (isFor(channel, option)) {
            channel.setOption(option, value);
        }
        put(option, value);
    }

    /** Returns an option of a channel, or what is remembered. */
    <T> T get(NetworkChannel channel, SocketOption<T> option) throws IOException {
        return isFor(channel, option) ? channel.getOption(option) : remembered(option);
    }

    /** Whether the channel knows the option, or is to say what is wrong with it. */
    private boolean isFor(NetworkChannel channel, SocketOption<?> option) {
        return channel.isOpen() && channel.supportedOptions().contains(option) || !defaults.containsKey(option);
    }

    private synchronized <T> T remembered(SocketOption<T> option) {
        Object value = values.get(option);
        return option.type().cast(Objects.requireNonNull(value == null ? defaults.get(option) : value));
    }
}
