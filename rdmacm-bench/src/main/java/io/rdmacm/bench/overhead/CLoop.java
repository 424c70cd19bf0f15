// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Runs the loop in C. */
final class CLoop {
    private CLoop() {
    }

    /**
     * One run of the program.
     *
     * @param options by their names in C; whole numbers
     * @return the nanoseconds of one post and poll, the median of the samples
     */
    static double run(Map<String, Integer> options) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(NullProvider.unpacked().loop().toString());
        options.forEach((name, value) -> command.add(name + "=" + value));
        Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        List<Double> samples = new ArrayList<>();
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(process.getInputStream(),
                StandardCharsets.US_ASCII))) {
            lines.lines().forEach(line -> samples.add(Double.valueOf(line)));
        } finally {
            process.destroy();
        }
        int status = process.waitFor();
        if (status != 0 || samples.isEmpty()) {
            throw new IOException(command + " ended with " + status);
        }
        samples.sort(null);
        return samples.get(samples.size() / 2);
    }
}
