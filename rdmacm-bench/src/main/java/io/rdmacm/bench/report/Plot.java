// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.report;

/**
 * A plot and its place in the report.
 *
 * @param section the section of the report
 * @param id the name of its file
 * @param title the title
 * @param svg the plot as SVG
 */
record Plot(Section section, String id, String title, String svg) {
    /** The sections of the report. */
    enum Section {
        /** Measurements without a device. */
        OVERHEAD("Overhead without a device"),
        /** Latency of small operations. */
        LATENCY("Latency"),
        /** Bandwidth of large ones. */
        BANDWIDTH("Bandwidth"),
        /** Messages over connections. */
        CONNECTIONS("Messages over connections"),
        /** Streams of bytes, with NIO and Netty. */
        STREAMS("Streams of bytes"),
        /** Setting up connections and memory regions. */
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
