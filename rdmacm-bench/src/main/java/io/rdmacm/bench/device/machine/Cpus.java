// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.machine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The CPUs that this process may use. If there are at least two, each peer is pinned to one.
 *
 * @param allowed their numbers
 * @param pinned whether {@code taskset} is installed
 */
public record Cpus(List<Integer> allowed, boolean pinned) {
    private static final String ALLOWED = "Cpus_allowed_list:";

    /** {@return the CPUs of this process} */
    public static Cpus find() throws IOException {
        String list = Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith(ALLOWED)).findFirst()
                .map(line -> line.substring(ALLOWED.length()).strip()).orElse("0");
        return new Cpus(parse(list), Programs.exists("taskset"));
    }

    /** Parses a list such as {@code 0-3,8}. */
    public static List<Integer> parse(String list) {
        return Arrays.stream(list.split(",")).map(range -> range.split("-")).flatMap(ends ->
                IntStream.rangeClosed(Integer.parseInt(ends[0]), Integer.parseInt(ends[ends.length - 1])).boxed())
                .toList();
    }

    /** {@return whether each peer can have a CPU of its own} */
    public boolean enoughForTwo() {
        return allowed.size() > 1;
    }

    /** {@return the command prefix of a server} */
    public List<String> server() {
        return pin(allowed.getFirst());
    }

    /** {@return the command prefix of a client} */
    public List<String> client() {
        return pin(allowed.getLast());
    }

    private List<String> pin(int cpu) {
        return pinned && enoughForTwo() ? List.of("taskset", "-c", Integer.toString(cpu)) : List.of();
    }
}
