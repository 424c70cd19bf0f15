// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.rdmacm.verbs.internal.life.Lifetime;

/**
 * What is in use: compared before and after, it shows what was not freed.
 *
 * @param files the open file descriptors of this process
 * @param objects the open native objects of this JVM
 * @param kernel the objects of the kernel's RDMA devices, of all processes, by kind; empty without the program rdma
 */
public record ResourceCounts(int files, long objects, Map<String, Integer> kernel) {
    private static final Pattern COUNT = Pattern.compile("\"(pd|cq|qp|cm_id|mr|ctx|srq)\":(\\d+)");
    private static final Duration PAUSE = Duration.ofMillis(20);

    /** The counts now. */
    public static ResourceCounts now() {
        // The kernel's first: running a program opens files for a while.
        Map<String, Integer> kernel = kernelObjects();
        return new ResourceCounts(openFiles(), Lifetime.openObjects(), kernel);
    }

    /** Without the jars, which are opened when a class of theirs is first needed. */
    private static int openFiles() {
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            return (int) files.filter(file -> !isJar(file)).count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isJar(Path file) {
        try {
            return Files.readSymbolicLink(file).toString().endsWith(".jar");
        } catch (IOException e) {
            // it was closed meanwhile
            return true;
        }
    }

    /** Whether there is more of anything than there was. */
    public boolean exceed(ResourceCounts former) {
        return files > former.files || objects > former.objects
                || kernel.entrySet().stream()
                        .anyMatch(kind -> kind.getValue() > former.kernel.getOrDefault(kind.getKey(), 0));
    }

    /**
     * The counts, once they are the wanted ones: the kernel frees some of its objects a little later. Less is taken for
     * the same, because threads that the library shares among all end when they are idle, and close their files.
     *
     * @param wanted what they should become
     * @param limit how long to wait for that at most
     * @return the wanted ones, or what they are after that time
     */
    public static ResourceCounts await(ResourceCounts wanted, Duration limit) throws InterruptedException {
        ResourceCounts counts = await(now -> !now.exceed(wanted), limit);
        return counts.exceed(wanted) ? counts : wanted;
    }

    /**
     * The counts, once they are as wanted.
     *
     * @param wanted whether they are
     * @param limit how long to wait for that at most
     * @return the wanted ones, or what they are after that time
     */
    public static ResourceCounts await(Predicate<ResourceCounts> wanted, Duration limit) throws InterruptedException {
        long end = System.nanoTime() + limit.toNanos();
        ResourceCounts counts = now();
        while (!wanted.test(counts) && System.nanoTime() < end) {
            Thread.sleep(PAUSE);
            counts = now();
        }
        return counts;
    }

    /** The counts, once they are twice the same: what the kernel still frees is gone then, of which no event tells. */
    public static ResourceCounts settled(Duration limit) throws InterruptedException {
        long end = System.nanoTime() + limit.toNanos();
        ResourceCounts last;
        ResourceCounts counts = now();
        do {
            last = counts;
            Thread.sleep(PAUSE);
            counts = now();
        } while (!counts.equals(last) && System.nanoTime() < end);
        return counts;
    }

    /** The objects of the kernel's RDMA devices of a kind, with their owners, as the program rdma lists them. */
    static String list(String kind) {
        return Requirements.isInstalled("rdma") ? output("rdma", "resource", "show", kind) : "";
    }

    private static Map<String, Integer> kernelObjects() {
        Map<String, Integer> counts = new TreeMap<>();
        if (!Requirements.isInstalled("rdma")) {
            return counts;
        }
        Matcher found = COUNT.matcher(output("rdma", "-j", "resource"));
        while (found.find()) {
            counts.merge(found.group(1), Integer.parseInt(found.group(2)), Integer::sum);
        }
        return counts;
    }

    private static String output(String... command) {
        try {
            Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
            // else it is open until somebody has noticed the end
            process.getOutputStream().close();
            try (var output = process.getInputStream()) {
                return new String(output.readAllBytes(), StandardCharsets.UTF_8);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
