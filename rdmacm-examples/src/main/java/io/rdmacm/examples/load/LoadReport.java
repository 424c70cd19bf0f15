// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.load;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import io.rdmacm.examples.support.Console;

/** The table of the results. */
public final class LoadReport {
    private static final double[] PERCENTILES = {50, 99, 99.9};

    private final LoadPlan plan;
    private final String device;
    private final String[] countTitle;
    private final List<String> rows = new ArrayList<>();

    /**
     * Creates a table without rows.
     *
     * @param plan the settings of the load
     * @param device the RDMA device
     * @param countTitle the two lines of the title of a last column, or nothing for none
     */
    public LoadReport(LoadPlan plan, String device, String... countTitle) {
        this.plan = plan;
        this.device = device;
        this.countTitle = countTitle.length == 0 ? new String[] {"", ""} : countTitle.clone();
    }

    /**
     * Adds a row.
     *
     * @param name the transport
     * @param result what was measured
     * @param count the last column, if there is one
     */
    public void add(String name, LoadResult result, long... count) {
        StringBuilder row = new StringBuilder(String.format(Locale.ROOT, "%-5s%10.0f", name,
                result.operationsPerSecond()));
        for (double percentile : PERCENTILES) {
            row.append(cell(result.gets(), result.getPercentile(percentile)));
        }
        for (double percentile : PERCENTILES) {
            row.append(cell(result.puts(), result.putPercentile(percentile)));
        }
        for (long value : count) {
            row.append(String.format(Locale.ROOT, "%12d", value));
        }
        rows.add(row.toString());
    }

    /**
     * Prints the table.
     *
     * @param console receives it
     * @param notes lines to print below it
     */
    public void print(Console console, String... notes) {
        String depth = plan.depth() == 1 ? "" : " with " + plan.depth() + " requests at once";
        console.print(plan.operations() + " operations, " + plan.readPercent() + " % of them gets, by "
                + plan.clients() + " clients" + depth + " on " + plan.keys() + " keys with values of "
                + plan.valueBytes() + " bytes, through " + device);
        console.print("");
        console.print(String.format("%15s%27s%27s%12s", "", "get, microseconds", "put, microseconds", countTitle[0])
                .stripTrailing());
        console.print(String.format("%-5s%10s%9s%9s%9s%9s%9s%9s%12s", "", "ops/s", "50 %", "99 %", "99.9 %", "50 %",
                "99 %", "99.9 %", countTitle[1]).stripTrailing());
        rows.forEach(console::print);
        console.print("");
        for (String note : notes) {
            console.print(note);
        }
        if (device.startsWith("rxe") || device.startsWith("siw")) {
            console.print(device + " is a software device: the server's kernel does the work of the hardware, on the"
                    + " same CPUs.");
        }
    }

    private static String cell(long count, double microseconds) {
        return count == 0 ? String.format("%9s", "-") : String.format(Locale.ROOT, "%9.1f", microseconds);
    }
}
