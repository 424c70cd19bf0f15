// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.forked;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.PortSpace;
import io.rdmacm.core.testing.FakeRdmaCm;
import io.rdmacm.core.testing.Loopback;
import io.rdmacm.verbs.error.RdmaException;

/** A program that loses an id, an event and a connect request without closing them; over the stand-in for librdmacm. */
public final class LoseConnections {
    private static final long SECONDS = 120;

    private LoseConnections() {
    }

    /** Runs the collector until all of the arguments stand in the reports, and prints these. */
    public static void main(String[] arguments) throws Exception {
        ByteArrayOutputStream log = new ByteArrayOutputStream();
        System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
        neverClosed();
        neverAcknowledged();
        neverClaimed();
        long start = System.nanoTime();
        do {
            System.gc();
        } while (!Stream.of(arguments).allMatch(log.toString(StandardCharsets.UTF_8)::contains)
                && System.nanoTime() - start < TimeUnit.SECONDS.toNanos(SECONDS));
        System.out.print(log.toString(StandardCharsets.UTF_8));
    }

    private static void neverClosed() throws RdmaException {
        CmId.open(EventChannel.open(), PortSpace.UDP);
    }

    private static void neverAcknowledged() throws Exception {
        EventChannel channel = EventChannel.open();
        FakeRdmaCm.event(CmId.open(channel, PortSpace.TCP), CmEventType.ADDR_CHANGE);
        channel.getEvent(Loopback.TIMEOUT);
    }

    private static void neverClaimed() throws Exception {
        EventChannel channel = EventChannel.open();
        CmId listener = CmId.open(channel, PortSpace.TCP);
        listener.bindAddress(new InetSocketAddress("192.0.2.7", 0));
        listener.listen(1);
        FakeRdmaCm.event(listener, CmEventType.CONNECT_REQUEST);
        channel.getEvent(Loopback.TIMEOUT);
    }
}
