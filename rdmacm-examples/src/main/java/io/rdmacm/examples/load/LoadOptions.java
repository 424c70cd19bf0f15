// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.load;

import java.io.PrintWriter;

import io.rdmacm.examples.support.Usage;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** The options that all load generators have. */
public final class LoadOptions {
    private static final int MAX_CLIENTS = 256;

    @Option(names = "-n", paramLabel = "COUNT", defaultValue = "20000",
            description = "How many operations over each transport (${DEFAULT-VALUE}).")
    private int operations;

    @Option(names = "-t", paramLabel = "CLIENTS", defaultValue = "4",
            description = "How many clients, each with a thread and a connection (${DEFAULT-VALUE}).")
    private int clients;

    @Option(names = "-k", paramLabel = "KEYS", defaultValue = "1000", description = "How many keys (${DEFAULT-VALUE}).")
    private int keys;

    @Option(names = "-S", paramLabel = "SIZE", defaultValue = "128",
            description = "The length of a value in bytes (${DEFAULT-VALUE}).")
    private int size;

    @Option(names = "-r", paramLabel = "PERCENT", defaultValue = "95",
            description = "The percentage of gets (${DEFAULT-VALUE}).")
    private int readPercent;

    @Option(names = "--progress", negatable = true,
            description = "Draw a progress bar on standard error, or not; by default if that is a terminal.")
    private Boolean progressWanted;

    /** Created by picocli. */
    public LoadOptions() {
    }

    /**
     * Checks the options.
     *
     * @param program whose options they are
     * @param maxBytes the maximum length of a value
     * @param depth how many requests each client sends at once
     * @return the settings of the load
     */
    public LoadPlan plan(CommandSpec program, int maxBytes, int depth) {
        Usage.require(program, operations >= 1, "Invalid count " + operations);
        Usage.require(program, clients >= 1 && clients <= MAX_CLIENTS, "Invalid number of clients " + clients
                + " (valid range is 1 to " + MAX_CLIENTS + ")");
        Usage.require(program, keys >= clients, "Invalid number of keys " + keys
                + ": each client needs one of its own");
        Usage.require(program, size >= LoadValue.MIN_BYTES && size <= maxBytes, "Invalid size " + size
                + " (valid range is " + LoadValue.MIN_BYTES + " to " + maxBytes + ")");
        Usage.require(program, readPercent >= 0 && readPercent <= 100, "Invalid percentage " + readPercent);
        return new LoadPlan(operations, clients, keys, size, readPercent, depth);
    }

    /**
     * Creates the progress bar.
     *
     * @param program whose options these are
     * @param steps the number of steps to do
     * @return the bar, which draws nothing if none is wanted
     */
    public Progress progress(CommandSpec program, long steps) {
        boolean wanted = progressWanted == null
                ? System.console() != null && System.console().isTerminal()
                : progressWanted;
        PrintWriter terminal = wanted ? program.commandLine().getErr() : null;
        return new Progress(terminal, steps);
    }
}
