// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.fuzz;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.reflect.Array;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Proxy;
import java.lang.reflect.Type;
import java.lang.reflect.WildcardType;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.function.Function;

/** Arguments, mostly from the edges of what there is. */
final class Values {
    private static final long[] INTS = {Integer.MIN_VALUE, -1, 0, 1, 2, 3, 7, 8, 63, 64, 255, 256, 4095, 4096, 0xffff,
        0x10000, 0xffffff, 0x1000000, Integer.MAX_VALUE - 7, Integer.MAX_VALUE};
    private static final long[] LONGS = {Long.MIN_VALUE, Integer.MIN_VALUE, -1, 0, 1, 7, 8, 64, 4095, 4096, 0xffff,
        0xffffffffL, 0x100000000L, Long.MAX_VALUE - 7, Long.MAX_VALUE};
    private static final int NULL_IN = 12;

    private final Object[] segments = segments();
    private final Random random;
    private final Function<Class<?>, Object> ours;
    private boolean nullGiven;
    private boolean forMemory;

    /**
     * A source of values.
     *
     * @param random what chooses
     * @param ours gives objects of the library
     */
    Values(Random random, Function<Class<?>, Object> ours) {
        this.random = random;
        this.ours = ours;
    }

    /** Whether a null was among those given since this was asked last. */
    boolean takeNullGiven() {
        boolean given = nullGiven;
        nullGiven = false;
        return given;
    }

    /** There was null in an object of the library. */
    void noteNull() {
        nullGiven = true;
    }

    /**
     * Whether the numbers to come are sizes of memory: either what any machine has, or what none has. The JDK tries for
     * half a second to have more than it may.
     */
    void forMemory(boolean on) {
        forMemory = on;
    }

    private long number(long[] numbers) {
        if (!forMemory) {
            return numbers[random.nextInt(numbers.length)];
        }
        boolean most = random.nextInt(100) == 0;
        long number = most ? numbers[numbers.length - 1] : numbers[random.nextInt(numbers.length)];
        // a method may take the product of two
        return !most && number > 0xff ? 16 : number;
    }

    /** Any value of a type. */
    Object of(Type type) {
        Class<?> raw = raw(type);
        if (!raw.isPrimitive() && random.nextInt(NULL_IN) == 0) {
            return noted();
        }
        if (raw == Optional.class) {
            return random.nextInt(3) == 0 ? Optional.empty() : Optional.ofNullable(of(argument(type)));
        }
        if (raw == Set.class) {
            return new HashSet<>(some(argument(type)));
        }
        if (raw == List.class || raw == Collection.class || raw == Iterable.class) {
            return some(argument(type));
        }
        if (raw.isArray()) {
            return array(raw);
        }
        if (raw.isEnum()) {
            return any(raw.getEnumConstants());
        }
        Object simple = simple(raw);
        return simple != null ? simple : ours(raw);
    }

    private Object noted() {
        nullGiven = true;
        return null;
    }

    private Object ours(Class<?> raw) {
        Object made = ours.apply(raw);
        if (made == null && raw.isInterface() && !raw.isSealed()) {
            return Proxy.newProxyInstance(raw.getClassLoader(), new Class<?>[] {raw}, (proxy, method, arguments) ->
                    switch (method.getName()) {
                        case "toString" -> "a proxy";
                        case "hashCode" -> System.identityHashCode(proxy);
                        case "equals" -> proxy == arguments[0];
                        default -> null;
                    });
        }
        return made == null ? noted() : made;
    }

    private Object simple(Class<?> raw) {
        if (raw == int.class || raw == Integer.class) {
            return (int) number(INTS);
        }
        if (raw == long.class || raw == Long.class) {
            return number(LONGS);
        }
        if (raw == short.class) {
            return (short) number(INTS);
        }
        if (raw == byte.class) {
            return (byte) number(INTS);
        }
        if (raw == boolean.class) {
            return random.nextBoolean();
        }
        if (raw == double.class) {
            return any(Double.NaN, -1.0, 0.0, 0.5, Double.MAX_VALUE);
        }
        if (raw == String.class) {
            return any("", "x", "fake0", "\0", "a:b/c%", "y".repeat(5000));
        }
        if (raw == MemorySegment.class) {
            return any(segments);
        }
        if (raw == SegmentAllocator.class || raw == Arena.class) {
            return Arena.ofAuto();
        }
        if (raw == Duration.class) {
            return any(Duration.ZERO, Duration.ofNanos(1), Duration.ofNanos(-1), Duration.ofSeconds(Long.MAX_VALUE),
                    Duration.ofSeconds(Long.MIN_VALUE), Duration.ofMillis(1));
        }
        if (raw == Path.class) {
            return any(Path.of(""), Path.of("/nowhere/at/all"), Path.of("/"));
        }
        if (SocketAddress.class.isAssignableFrom(raw) || raw == InetAddress.class) {
            return address(raw);
        }
        return raw == Object.class ? any("x", 1, new Object()) : null;
    }

    private Object address(Class<?> raw) {
        try {
            InetAddress four = InetAddress.getByAddress(new byte[] {(byte) 192, 0, 2, 1});
            InetAddress six = InetAddress.getByName("2001:db8::1");
            if (raw == InetAddress.class) {
                return any(four, six, InetAddress.getLoopbackAddress());
            }
            Object unresolved = InetSocketAddress.createUnresolved("nowhere.invalid", 1);
            return raw == InetSocketAddress.class
                    ? any(new InetSocketAddress(four, 0), new InetSocketAddress(six, 0xffff), unresolved)
                    : any(new InetSocketAddress(four, 0), new InetSocketAddress(six, 0xffff), unresolved,
                            UnixDomainSocketAddress.of("/nowhere"));
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    private static Object[] segments() {
        Arena closed = Arena.ofConfined();
        MemorySegment gone = closed.allocate(64, 8);
        closed.close();
        MemorySegment good = Arena.ofAuto().allocate(64, 8);
        return new Object[] {MemorySegment.NULL, gone, MemorySegment.ofArray(new byte[64]),
            MemorySegment.ofArray(new long[8]).asReadOnly(), good, good.asSlice(1, 63), good.asReadOnly(),
            good.asSlice(64), MemorySegment.ofArray(new byte[0]), MemorySegment.ofAddress(-1),
            Arena.ofAuto().allocate(1 << 17, 8), ofAnotherThread()};
    }

    private static MemorySegment ofAnotherThread() {
        MemorySegment[] made = new MemorySegment[1];
        Thread thread = Thread.ofPlatform().start(() -> made[0] = Arena.ofConfined().allocate(64, 8));
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return made[0] == null ? MemorySegment.NULL : made[0];
    }

    private Object array(Class<?> raw) {
        int length = (int) any(0, 1, 2, 3, 16, 200, 300);
        Object array = Array.newInstance(raw.componentType(), length);
        for (int i = 0; i < length; i++) {
            Array.set(array, i, of(raw.componentType()));
        }
        return array;
    }

    private List<Object> some(Type element) {
        List<Object> list = new ArrayList<>();
        for (int i = (int) any(0, 1, 2, 3, 5); i > 0; i--) {
            list.add(of(element));
        }
        return list;
    }

    private Object any(Object... values) {
        return values[random.nextInt(values.length)];
    }

    private static Type argument(Type type) {
        Type first = type instanceof ParameterizedType parameterized
                ? parameterized.getActualTypeArguments()[0]
                : Object.class;
        return first instanceof WildcardType wildcard ? wildcard.getUpperBounds()[0] : first;
    }

    private static Class<?> raw(Type type) {
        if (type instanceof ParameterizedType parameterized) {
            return (Class<?>) parameterized.getRawType();
        }
        return type instanceof Class<?> known ? known : Object.class;
    }

    /** An argument in a message. */
    static String show(Object value) {
        if (value == null) {
            return "null";
        }
        String text;
        try {
            text = value instanceof Object[] array ? Arrays.deepToString(array)
                    : value.getClass().isArray() ? value.getClass().componentType() + "[" + Array.getLength(value) + "]"
                    : value.toString();
        } catch (RuntimeException e) {
            text = "toString() throws " + e;
        }
        return value.getClass().getSimpleName() + ":" + (text.length() > 120 ? text.substring(0, 120) + "..." : text);
    }
}
