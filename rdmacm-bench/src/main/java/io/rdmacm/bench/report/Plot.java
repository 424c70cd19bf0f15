// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.report;

/**
 * A plot and where it belongs.
 *
 * @param section the heading under which it stands
 * @param id a name for its file
 * @param title what it shows
 * @param svg the plot
 */
record Plot(Section section, String id, String title, String svg) {
    /** The parts of the report. */
    enum Section {
        /** Without a device. */
        OVERHEAD("Overhead without a device"),
        /** By size. */
        LATENCY("Latency"),
        /** How it spreads. */
        PERCENTILES("Percentiles of latency"),
        /** By size and depth. */
        BANDWIDTH("Bandwidth"),
        /** Connections and regions. */
        SET_UP("Connections and memory regions");

        private final String heading;

        Section(String heading) {
            this.heading = heading;
        }

        String heading() {
            return heading;
        }
    }
}
