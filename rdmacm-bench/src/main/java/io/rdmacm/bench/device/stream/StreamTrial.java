// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.stream;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import io.rdmacm.bench.device.measure.Polling;
import io.rdmacm.bench.report.Summary;

/**
 * A measurement of streams of bytes, in the steps of {@code rstream}: one side sends some transfers, and the other one
 * sends as many back. All sides sleep when there is nothing to do, as {@code rstream -T b} does; before that they poll
 * for a while, see {@link StreamWay#spinMicros()}.
 *
 * @param way what carries the stream
 * @param size the bytes of a transfer
 * @param count how many transfers are sent before the peer answers; 1 for round trips
 * @param iterations how often that is repeated
 * @param channels how many channels of the event loop are open, this one included, with buffers that are small enough
 *     for many; 0 for one with buffers of the size of {@code rstream}'s
 */
public record StreamTrial(StreamWay way, int size, int count, int iterations, int channels) {
    /** The size of the buffers of a stream: the default of {@code rstream}. */
    static final int BUFFER = 1 << 19;
    // of one among many, of each side
    private static final int SMALL_BUFFER = 1 << 14;

    /** {@return the trials of one reference, for each reference} */
    public static List<List<StreamTrial>> groups(int roundTrips, int transfers) {
        return List.of(ways(64, 1, roundTrips), ways(1 << 16, transfers, 1), ways(1 << 20, Math.max(20, transfers / 10),
                1));
    }

    /** {@return round trips with Netty while other channels of the event loop are open} */
    public static List<List<StreamTrial>> amongChannels(int roundTrips) {
        return Stream.of(1, 100, 1000).map(channels -> Stream.of(StreamWay.NETTY_EPOLL, StreamWay.NETTY_RDMA,
                StreamWay.NETTY_TCP).map(way -> new StreamTrial(way, 64, 1, roundTrips, channels)).toList()).toList();
    }

    /** Creates a trial of one channel. */
    public StreamTrial(StreamWay way, int size, int count, int iterations) {
        this(way, size, count, iterations, 0);
    }

    private static List<StreamTrial> ways(int size, int count, int iterations) {
        return Arrays.stream(StreamWay.values()).filter(way -> way.copies() || count > 1)
                .map(way -> new StreamTrial(way, size, count, iterations)).toList();
    }

    /** {@return whether round trips are measured} */
    public boolean isLatency() {
        return count == 1;
    }

    /** {@return the name of its results} */
    public String id() {
        return channels > 0 ? Summary.NETTY_AMONG_CHANNELS
                : isLatency() ? Summary.STREAM_ROUND_TRIP : Summary.STREAM_TRANSFER;
    }

    /** {@return the same with fewer repetitions} */
    public StreamTrial with(int transfers, int repetitions) {
        return new StreamTrial(way, size, transfers, repetitions, channels);
    }

    int bufferSize() {
        return channels > 0 ? SMALL_BUFFER : BUFFER;
    }

    /** {@return the parameters of its results} */
    public Map<String, Object> params() {
        Map<String, Object> params = new LinkedHashMap<>();
        params.put("by", way.id());
        params.put("polling", Polling.AWAIT.id());
        params.put("size", size);
        if (channels > 0) {
            params.put("channels", channels);
        }
        params.put("iterations", iterations * count);
        return params;
    }

    /** {@return a line that {@link #parse} reads} */
    public String encode() {
        return String.join(" ", way.name(), Integer.toString(size), Integer.toString(count),
                Integer.toString(iterations), Integer.toString(channels));
    }

    /** {@return what {@link #encode} was given} */
    public static StreamTrial parse(String line) {
        String[] words = line.split(" ");
        return new StreamTrial(StreamWay.valueOf(words[0]), Integer.parseInt(words[1]), Integer.parseInt(words[2]),
                Integer.parseInt(words[3]), Integer.parseInt(words[4]));
    }

    /** {@return a short description} */
    @Override
    public String toString() {
        return "rsocket " + (isLatency() ? "round trip" : "stream") + " by " + way.id() + ", " + size + " B, polling "
                + way.spinMicros() + " us before sleeping" + (channels > 0 ? ", " + channels + " channels open" : "");
    }
}
