// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.stream;

import java.io.IOException;
import java.util.List;

/** Reads what {@code rstream} prints about one test: all its time, and what it was for each transfer. */
public final class RstreamOutput {
    private static final String TEST = "custom ";

    private RstreamOutput() {
    }

    /**
     * {@return the microseconds for each transfer}
     *
     * @param output a heading and one line
     */
    public static double microsPerTransfer(String output) throws IOException {
        List<String> rows = output.lines().filter(line -> line.startsWith(TEST)).toList();
        if (rows.size() == 1) {
            String[] words = rows.getFirst().strip().split(" +");
            try {
                double micros = Double.parseDouble(words[words.length - 1]);
                if (micros > 0) {
                    return micros;
                }
            } catch (NumberFormatException e) {
                throw new IOException("rstream printed " + output, e);
            }
        }
        throw new IOException("rstream printed " + output);
    }
}
