// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.fuzz;

import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.pool.RegisteredPool;

/** Calls whatever is public, with arguments from the edges, and looks at what comes out. */
public final class Fuzzer {
    private static final int DEPTH = 3;
    private static final int TRIES = 4;
    // Otherwise nothing would be open for long.
    private static final int CLOSE_IN = 8;
    private static final int SHOWN_CALLS = 12;
    private static final int MOST_OF_A_CLASS = 16;

    private final Surface surface;
    private final Random random;
    private final Values values;
    private final Interrupter interrupter;
    private final Map<Class<?>, List<Object>> pool = new LinkedHashMap<>();
    private final Set<Object> hasNull = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Set<AutoCloseable> opened = Collections.newSetFromMap(new IdentityHashMap<>());
    private final List<AutoCloseable> order = new ArrayList<>();
    private final List<String> log = new ArrayList<>();
    private int depth;

    /**
     * A fuzzer.
     *
     * @param surface what is called
     * @param random what chooses
     * @param interrupter ends calls that wait
     * @param objects to begin with; they are closed too
     */
    public Fuzzer(Surface surface, Random random, Interrupter interrupter, Collection<?> objects) {
        this.surface = surface;
        this.random = random;
        this.interrupter = interrupter;
        this.values = new Values(random, this::anyOf);
        for (Object object : objects) {
            keep(object, false);
        }
    }

    /** One call of anything. */
    public void call() {
        Executable call = surface.calls().get(random.nextInt(surface.calls().size()));
        if (call.getName().equals("close") && random.nextInt(CLOSE_IN) > 0) {
            return;
        }
        values.takeNullGiven();
        depth = 0;
        call(call);
    }

    /** One call of something; true when there was an object to call it on. */
    public boolean call(Executable call) {
        Object receiver = null;
        if (call instanceof Method method && !Modifier.isStatic(method.getModifiers())) {
            receiver = anyOf(method.getDeclaringClass());
            if (receiver == null) {
                return false;
            }
        }
        invoke(call, receiver);
        return true;
    }

    private Object invoke(Executable call, Object receiver) {
        Type[] types = call.getGenericParameterTypes();
        Object[] arguments = new Object[call.getParameterCount()];
        for (int i = 0; i < arguments.length; i++) {
            values.forMemory(isAboutMemory(call));
            arguments[i] = values.of(types[i]);
            if (hasNull.contains(arguments[i])) {
                values.noteNull();
            }
        }
        if (hasNull.contains(receiver)) {
            values.noteNull();
        }
        String text = call.getDeclaringClass().getSimpleName() + "." + call.getName() + "("
                + Arrays.stream(arguments).map(Values::show).collect(Collectors.joining(", ")) + ") on "
                + Values.show(receiver);
        log.add(text);
        boolean nullGiven = values.takeNullGiven();
        if (nullGiven) {
            values.noteNull();
        }
        try {
            Object result = interrupter.during(text, () -> call instanceof Constructor<?> constructor
                    ? constructor.newInstance(arguments)
                    : ((Method) call).invoke(receiver, arguments));
            if (nullGiven && receiver != null) {
                hasNull.add(receiver);
            }
            keep(result, nullGiven);
            return result;
        } catch (InvocationTargetException e) {
            if (!isDocumented(e.getCause(), nullGiven)) {
                throw new AssertionError(describe(text), e.getCause());
            }
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(describe(text), e);
        }
        return null;
    }

    /** Whether memory is taken for what the arguments say, now or later. */
    private static boolean isAboutMemory(Executable call) {
        Class<?> type = call.getDeclaringClass();
        return call.getName().startsWith("allocate") || type.getName().contains("Settings")
                || type.getPackageName().equals(RegisteredPool.class.getPackageName());
    }

    private String describe(String text) {
        List<String> before = log.subList(Math.max(0, log.size() - SHOWN_CALLS), log.size());
        return text + "\nafter\n" + String.join("\n", before);
    }

    private static boolean isDocumented(Throwable e, boolean nullGiven) {
        return e instanceof RdmaException || e instanceof InterruptedException
                || e.getClass() == IllegalArgumentException.class || e.getClass() == IllegalStateException.class
                || e instanceof IndexOutOfBoundsException || e instanceof UnsupportedOperationException
                // of the JDK: memory of another thread
                || e instanceof WrongThreadException
                // of the JDK: more memory than there is
                || e instanceof OutOfMemoryError
                || e instanceof NullPointerException && (nullGiven || isDeliberate(e));
    }

    /** Of a builder that was not told all it needs, with the name of it. */
    private static boolean isDeliberate(Throwable e) {
        return e.getStackTrace()[0].getClassName().equals(Objects.class.getName());
    }

    private void keep(Object result, boolean nullGiven) {
        switch (result) {
            case null -> { }
            case Optional<?> optional -> optional.ifPresent(value -> keep(value, nullGiven));
            case Collection<?> collection -> {
                collection.stream().limit(4).forEach(value -> keep(value, nullGiven));
                keepForCalls(result, nullGiven);
            }
            default -> {
                if (result instanceof AutoCloseable closeable && opened.add(closeable)) {
                    order.add(closeable);
                }
                keepForCalls(result, nullGiven);
            }
        }
    }

    private void keepForCalls(Object result, boolean nullGiven) {
        if (surface.types().contains(result.getClass())) {
            if (nullGiven) {
                hasNull.add(result);
            }
            List<Object> same = pool.computeIfAbsent(result.getClass(), type -> new ArrayList<>());
            if (same.size() < MOST_OF_A_CLASS) {
                same.add(result);
            } else {
                same.set(random.nextInt(MOST_OF_A_CLASS), result);
            }
        }
    }

    /** One from the pool, or a new one; null when there is none to be had. */
    private Object anyOf(Class<?> type) {
        if (type.isEnum()) {
            return type.getEnumConstants()[random.nextInt(type.getEnumConstants().length)];
        }
        List<List<Object>> known = pool.entrySet().stream().filter(all -> type.isAssignableFrom(all.getKey()))
                .map(Map.Entry::getValue).toList();
        List<Executable> makers = surface.makersOf(type);
        if (!known.isEmpty() && (makers.isEmpty() || depth >= DEPTH || random.nextInt(3) > 0)) {
            List<Object> same = known.get(random.nextInt(known.size()));
            return same.get(random.nextInt(same.size()));
        }
        Object made = null;
        for (int i = 0; i < TRIES && made == null && depth < DEPTH && !makers.isEmpty(); i++) {
            Executable maker = makers.get(random.nextInt(makers.size()));
            depth++;
            try {
                made = make(maker);
            } finally {
                depth--;
            }
        }
        return made;
    }

    private Object make(Executable maker) {
        if (maker instanceof Constructor<?> || Modifier.isStatic(maker.getModifiers())) {
            return invoke(maker, null);
        }
        Object receiver = anyOf(maker.getDeclaringClass());
        return receiver == null ? null : invoke(maker, receiver);
    }

    /** Closes what was opened: the last first, and again as long as something can be. */
    public void closeAll() throws Exception {
        List<AutoCloseable> left = new ArrayList<>(order);
        Collections.reverse(left);
        while (true) {
            List<AutoCloseable> refused = new ArrayList<>();
            List<String> reasons = new ArrayList<>();
            for (AutoCloseable object : left) {
                try {
                    object.close();
                } catch (IllegalStateException | RdmaException e) {
                    refused.add(object);
                    reasons.add(e.toString());
                }
            }
            if (refused.isEmpty()) {
                return;
            }
            if (refused.size() == left.size()) {
                throw new AssertionError(describe("cannot be closed: " + reasons));
            }
            left = refused;
        }
    }

    /** The calls so far. */
    public List<String> log() {
        return log;
    }
}
