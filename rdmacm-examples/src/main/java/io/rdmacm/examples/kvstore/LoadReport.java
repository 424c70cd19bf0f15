// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.kvstore;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import io.rdmacm.examples.support.Console;

/** The table of the results. */
final class LoadReport {
    private static final double[] PERCENTILES = {50, 99, 99.9};

    private final LoadPlan plan;
    private final String device;
    private final List<String> rows = new ArrayList<>();
    private long tornReads;

    LoadReport(LoadPlan plan, String device) {
        this.plan = plan;
        this.device = device;
    }

    /**
     * Adds a row.
     *
     * @param name the transport
     * @param result what was measured
     * @param handled how many puts and gets the server has handled meanwhile, including the unmeasured ones
     */
    void add(String name, LoadResult result, long handled) {
        StringBuilder row = new StringBuilder(String.format(Locale.ROOT, "%-5s%10.0f", name,
                result.operationsPerSecond()));
        for (double percentile : PERCENTILES) {
            row.append(cell(result.gets(), result.getPercentile(percentile)));
        }
        for (double percentile : PERCENTILES) {
            row.append(cell(result.puts(), result.putPercentile(percentile)));
        }
        rows.add(row.append(String.format(Locale.ROOT, "%12d", handled)).toString());
        tornReads += result.tornReads();
    }

    void print(Console console) {
        console.print(plan.operations() + " operations, " + plan.readPercent() + " % of them gets, by "
                + plan.clients() + " clients on " + plan.keys() + " keys with values of " + plan.valueBytes()
                + " bytes, through " + device);
        console.print("");
        console.print(String.format("%15s%27s%27s%12s", "", "get, microseconds", "put, microseconds", "handled by"));
        console.print(String.format("%-5s%10s%9s%9s%9s%9s%9s%9s%12s", "", "ops/s", "50 %", "99 %", "99.9 %", "50 %",
                "99 %", "99.9 %", "the server"));
        rows.forEach(console::print);
        console.print("");
        console.print("\"handled by the server\" counts the " + 2 * plan.keys() + " puts and gets before the"
                + " measurement too; over RDMA it counts only puts.");
        console.print(tornReads + " reads overlapped a write and were repeated.");
        if (device.startsWith("rxe") || device.startsWith("siw")) {
            console.print(device + " is a software device: the server's kernel does the work of the hardware, on the"
                    + " same CPUs.");
        }
    }

    private static String cell(long count, double microseconds) {
        return count == 0 ? String.format("%9s", "-") : String.format(Locale.ROOT, "%9.1f", microseconds);
    }
}
