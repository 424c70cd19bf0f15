// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;

/** Parses the output of cmtime. */
final class CmtimeOutput {
    // a stage, then the total, longest and shortest time, and the time per connection
    private static final Pattern STAGE =
            Pattern.compile("([a-z ]+?) *: +([0-9.]+) +([0-9.]+) +([0-9.]+) +([0-9.]+)");
    private static final int PER_CONNECTION = 5;

    private CmtimeOutput() {
    }

    /**
     * Returns the microseconds per connection of each stage.
     *
     * @param text the output
     * @throws IOException if a connection failed, or there is no result
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
