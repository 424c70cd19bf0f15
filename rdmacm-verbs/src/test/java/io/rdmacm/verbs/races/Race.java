// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.races;

import java.util.ArrayList;
import java.util.List;

/**
 * Threads that use a fresh object until they are refused, and others that close it meanwhile.
 *
 * @param <T> what is raced for
 */
public final class Race<T> {
    private final String name;
    private final Maker<T> maker;
    private final List<Act<T>> users = new ArrayList<>();
    private final List<Act<T>> closers = new ArrayList<>();
    private Act<T> end = object -> { };
    private boolean waiting;

    private Race(String name, Maker<T> maker) {
        this.name = name;
        this.maker = maker;
    }

    /**
     * Makes fresh objects.
     *
     * @param <T> what is raced for
     */
    @FunctionalInterface
    public interface Maker<T> {
        /** Called by one thread, while the others wait. */
        T make() throws Exception;
    }

    /**
     * What a thread does with an object.
     *
     * @param <T> what is raced for
     */
    @FunctionalInterface
    public interface Act<T> {
        /** Does it once. */
        void on(T object) throws Exception;
    }

    /**
     * A race, without threads yet.
     *
     * @param <T> what is raced for
     * @param name what is closed against what
     * @param maker makes the objects
     */
    public static <T> Race<T> of(String name, Maker<T> maker) {
        return new Race<>(name, maker);
    }

    /** One more thread that uses the object, until IllegalStateException or RdmaClosedException tells it to end. */
    public Race<T> use(Act<T> act) {
        users.add(act);
        return this;
    }

    /** As {@link #use}, of something that waits: nobody closes only after it was done once. */
    public Race<T> await(Act<T> act) {
        waiting = true;
        return use(act);
    }

    /** One more thread that closes the object, once. */
    public Race<T> close(Act<T> act) {
        closers.add(act);
        return this;
    }

    /** What is done when all have ended. */
    public Race<T> end(Act<T> act) {
        end = act;
        return this;
    }

    /** What is closed against what. */
    public String name() {
        return name;
    }

    Maker<T> maker() {
        return maker;
    }

    List<Act<T>> users() {
        return users;
    }

    List<Act<T>> closers() {
        return closers;
    }

    Act<T> end() {
        return end;
    }

    boolean isWaiting() {
        return waiting;
    }
}
