// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import java.io.IOException;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.platform.commons.annotation.Testable;
import org.junit.platform.commons.support.AnnotationSupport;

/**
 * The rule for the names of test classes. A class belongs to one tier, and its name ends with the tier's suffix:
 *
 * <ul>
 * <li>{@code DeviceTest}: needs an RDMA device; the class is annotated with {@link RequiresRdma}, tag {@code device}
 * <li>{@code TwoHostsTest}: needs two hosts; the class is annotated with {@code RequiresTwoHosts}, tag {@code twohosts}
 * <li>{@code Test}: everything else, the unit tests
 * </ul>
 *
 * <p>Classes without tests do not end with {@code Test}.
 */
public final class Tiers {
    private static final String UNIT_SUFFIX = "Test";
    /** The tags of the other tiers. */
    private static final Map<String, String> SUFFIXES = new TreeMap<>(
            Map.of("device", "DeviceTest", "twohosts", "TwoHostsTest"));

    private Tiers() {
    }

    /** Returns how the compiled test classes of this module break the rule; empty if they follow it. */
    public static List<String> violations() throws IOException {
        return violations(Path.of("target", "test-classes"));
    }

    /** Returns how the compiled classes in a folder break the rule; empty if they follow it. */
    public static List<String> violations(Path folder) throws IOException {
        List<String> violations = new ArrayList<>();
        try (Stream<Path> files = Files.walk(folder);
                URLClassLoader loader = new URLClassLoader(new URL[] {folder.toUri().toURL()},
                        Tiers.class.getClassLoader())) {
            List<String> names = files.map(file -> folder.relativize(file).toString())
                    .filter(name -> name.endsWith(".class") && !name.endsWith("-info.class"))
                    .map(name -> name.replaceAll("\\.class$", "").replace('/', '.')).sorted().toList();
            for (String name : names) {
                check(Class.forName(name, false, loader), violations);
            }
        } catch (ClassNotFoundException e) {
            throw new AssertionError(e);
        }
        return violations;
    }

    private static void check(Class<?> type, List<String> violations) {
        for (Method method : type.getDeclaredMethods()) {
            tiers(method).forEach(tier -> violations.add(type.getName() + "." + method.getName()
                    + ": a class belongs to one tier, but this method alone has the tag " + tier));
        }
        if (type.getNestHost() != type) {
            tiers(type).forEach(tier -> violations.add(type.getName()
                    + ": a class belongs to one tier, but this nested class alone has the tag " + tier));
            return;
        }
        String wanted = suffix(type, violations);
        String name = type.getSimpleName();
        if (!hasTests(type)) {
            if (name.endsWith(UNIT_SUFFIX)) {
                violations.add(type.getName() + ": has no tests, so its name must not end with " + UNIT_SUFFIX);
            }
        } else if (!name.endsWith(wanted)) {
            violations.add(type.getName() + ": its name must end with " + wanted);
        } else if (wanted.equals(UNIT_SUFFIX)) {
            SUFFIXES.forEach((tier, suffix) -> {
                if (name.endsWith(suffix)) {
                    violations.add(type.getName() + ": its name ends with " + suffix
                            + ", but the class does not have the tag " + tier);
                }
            });
        }
    }

    private static String suffix(Class<?> type, List<String> violations) {
        List<String> tiers = tiers(type);
        if (tiers.size() > 1) {
            violations.add(type.getName() + ": a class belongs to one tier, not to " + String.join(" and ", tiers));
        }
        return tiers.isEmpty() ? UNIT_SUFFIX : SUFFIXES.get(tiers.getFirst());
    }

    private static List<String> tiers(AnnotatedElement element) {
        return AnnotationSupport.findRepeatableAnnotations(element, Tag.class).stream().map(Tag::value)
                .filter(SUFFIXES::containsKey).sorted().toList();
    }

    /** Whether the class or a class nested in it declares or inherits test methods. */
    private static boolean hasTests(Class<?> type) {
        for (Class<?> declaring = type; declaring != null; declaring = declaring.getSuperclass()) {
            if (Arrays.stream(declaring.getDeclaredMethods())
                    .anyMatch(method -> AnnotationSupport.isAnnotated(method, Testable.class))) {
                return true;
            }
        }
        return Arrays.stream(type.getDeclaredClasses()).anyMatch(Tiers::hasTests);
    }
}
