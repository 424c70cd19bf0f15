// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HexFormat;

import io.rdmacm.bench.device.measure.Allocation;
import io.rdmacm.bench.device.measure.MessageEnd;
import io.rdmacm.bench.device.measure.Outcome;
import io.rdmacm.bench.device.measure.PeerTask;
import io.rdmacm.bench.device.measure.Trial;
import io.rdmacm.bench.device.stream.ChannelEnd;

/** One end of a trial over a {@link MessageEnd}: that of TCP or of {@link Jucx}. */
final class MessageTask implements PeerTask {
    private static final int SMALL = 64;
    private static final int RECEIVES = 64;

    private final Trial trial;
    private final boolean client;
    private final int warmUp;
    private final Waiting waiting;
    private final MessageEnd end;
    private final Allocation allocation = new Allocation();

    MessageTask(Trial trial, boolean client, int warmUp) throws IOException {
        this.trial = trial;
        this.client = client;
        this.warmUp = warmUp;
        this.waiting = new Waiting(trial.polling());
        int size = Math.max(SMALL, trial.size());
        this.end = trial.way() == Trial.Way.TCP ? ChannelEnd.tcp(client, size)
                : Jucx.open(size, trial.depth(), RECEIVES, this::pause);
    }

    private void pause() {
        try {
            waiting.pause();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public String address() throws IOException {
        return HexFormat.of().formatHex(end.address());
    }

    @Override
    public void connect(String peer) throws IOException {
        end.connect(HexFormat.of().parseHex(peer));
    }

    @Override
    public String run() throws IOException {
        int total = warmUp + trial.iterations();
        if (trial.pattern() == Trial.Pattern.ROUND_TRIP) {
            return client ? ask(total) : answer(total);
        }
        return client ? stream() : take();
    }

    private String ask(int total) throws IOException {
        long[] times = new long[total + 1];
        for (int i = 0; i < total; i++) {
            if (i == warmUp) {
                allocation.start();
            }
            times[i] = System.nanoTime();
            send(trial.size());
            receive(1, trial.size());
        }
        times[total] = System.nanoTime();
        allocation.end(trial.iterations());
        return Outcome.Latencies.between(times, warmUp, 1).encode();
    }

    private String answer(int total) throws IOException {
        for (int i = 0; i < total; i++) {
            receive(1, trial.size());
            send(trial.size());
        }
        return PeerTask.DONE;
    }

    private String stream() throws IOException {
        stream(warmUp);
        allocation.start();
        long start = System.nanoTime();
        stream(trial.iterations());
        long nanos = System.nanoTime() - start;
        allocation.end(trial.iterations());
        return Outcome.Throughput.of(trial.iterations(), nanos).encode();
    }

    /** Sends messages, and waits until the peer says that the last one has arrived. */
    private void stream(int count) throws IOException {
        if (count > 0) {
            waiting.reset();
            end.send(count, trial.size());
            receive(1, SMALL);
        }
    }

    private String take() throws IOException {
        for (int count : new int[] {warmUp, trial.iterations()}) {
            if (count > 0) {
                receive(count, trial.size());
                send(SMALL);
            }
        }
        return PeerTask.DONE;
    }

    private void send(int bytes) throws IOException {
        waiting.reset();
        end.send(1, bytes);
    }

    private void receive(int count, int bytes) throws IOException {
        waiting.reset();
        end.receive(count, bytes);
    }

    @Override
    public double allocated() {
        return allocation.each();
    }

    @Override
    public void close() throws IOException {
        end.close();
    }
}
