// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;

/** Reads what cmtime prints. */
final class CmtimeOutput {
    // a stage, then the total, the longest, the shortest and the time a connection
    private static final Pattern STAGE =
            Pattern.compile("([a-z ]+?) *: +([0-9.]+) +([0-9.]+) +([0-9.]+) +([0-9.]+)");
    private static final int PER_CONNECTION = 5;

    private CmtimeOutput() {
    }

    /**
     * The microseconds a connection of each stage.
     *
     * @param text what it printed
     * @throws IOException when some connections failed, or there is no result
     */
    static Map<String, Double> stages(String text) throws IOException {
        Map<String, Double> stages = new LinkedHashMap<>();
        for (String line : text.lines().map(String::strip).toList()) {
            if (line.contains("RDMA_CM_EVENT") || line.startsWith("failure")) {
                throw new IOException("cmtime: " + line);
            }
            var stage = STAGE.matcher(line);
            if (stage.matches()) {
                stages.put(stage.group(1), Double.parseDouble(stage.group(PER_CONNECTION)));
            }
        }
        if (!stages.keySet().containsAll(Connections.SET_UP)) {
            throw new IOException("no result in: " + text.strip());
        }
        return stages;
    }
}
