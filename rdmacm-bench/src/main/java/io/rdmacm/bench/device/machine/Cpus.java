// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.machine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

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
        String list = "0";
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith(ALLOWED)) {
                list = line.substring(ALLOWED.length()).strip();
            }
        }
        return new Cpus(parse(list), Commands.find("taskset").isPresent());
    }

    /** Parses a list such as {@code 0-3,8}. */
    public static List<Integer> parse(String list) {
        List<Integer> cpus = new ArrayList<>();
        for (String range : list.split(",")) {
            String[] ends = range.split("-");
            int last = Integer.parseInt(ends[ends.length - 1]);
            for (int cpu = Integer.parseInt(ends[0]); cpu <= last; cpu++) {
                cpus.add(cpu);
            }
        }
        return List.copyOf(cpus);
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
