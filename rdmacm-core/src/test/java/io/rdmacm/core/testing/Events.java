// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.ConnectionHandler;
import io.rdmacm.core.connection.Message;
import io.rdmacm.verbs.error.RdmaException;

/** A handler that notes what it is told, of all its connections together, and that it is told one after the other. */
public class Events implements ConnectionHandler {
    /** What has happened. */
    public record Event(Connection connection, String what, Thread thread, RdmaException reason) {
    }

    private final BlockingQueue<Event> events = new LinkedBlockingQueue<>();
    private final Map<Connection, Thread> inside = new ConcurrentHashMap<>();

    private void note(Connection connection, String what, RdmaException reason) {
        boolean alone = inside.putIfAbsent(connection, Thread.currentThread()) == null;
        events.add(new Event(connection, alone ? what : what + " while another call was running",
                Thread.currentThread(), reason));
        if (alone) {
            inside.remove(connection);
        }
    }

    @Override
    public void onConnect(Connection connection) {
        note(connection, "connected", null);
    }

    @Override
    public void onMessage(Connection connection, Message message) {
        note(connection, "message " + new String(message.toArray()), null);
    }

    @Override
    public void onImmediate(Connection connection, int immediate, int length) {
        note(connection, "immediate " + immediate + " " + length, null);
    }

    @Override
    public void onDisconnect(Connection connection, RdmaException reason) {
        note(connection, "disconnected", reason);
    }

    /** The next event, once it has happened. */
    public Event next() throws InterruptedException {
        Event event = events.poll(Peers.TIMEOUT.toSeconds(), TimeUnit.SECONDS);
        assertThat(event).describedAs("an event").isNotNull();
        return event;
    }

    /** Checks what happens next, and returns it. */
    public Event expect(String what) throws InterruptedException {
        Event event = next();
        assertThat(event.what()).isEqualTo(what);
        return event;
    }

    /** Whether nothing has happened that was not asked for. */
    public boolean isEmpty() {
        return events.isEmpty();
    }
}
