// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * One axis of a plot.
 *
 * @param label the label, with the unit
 * @param logarithmic whether equal distances are equal ratios
 * @param from the value at the start
 * @param to the value at the end
 * @param ticks the grid lines
 */
record Axis(String label, boolean logarithmic, double from, double to, List<Tick> ticks) {
    private static final int KIBI = 1024;
    private static final double DECADE = 10;
    private static final double[] STEPS = {1, 2, 5};
    private static final int MANY_DECADES = 2;
    private static final int FEW_TICKS = 5;

    /**
     * A grid line with its label.
     *
     * @param value the position
     * @param label the text beside it
     */
    record Tick(double value, String label) {
    }

    /** Returns a logarithmic axis for sizes, with powers of two. */
    static Axis sizes(String label, double smallest, double largest) {
        List<Tick> ticks = new ArrayList<>();
        double span = Math.log(Math.max(2, largest / smallest)) / Math.log(2);
        double step = span > FEW_TICKS * 2 ? KIBI / 64 : span > FEW_TICKS ? 4 : 2;
        double first = 1;
        while (first < smallest) {
            first *= step;
        }
        for (double size = first; size <= largest; size *= step) {
            ticks.add(new Tick(size, size(size)));
        }
        return new Axis(label, true, smallest, Math.max(largest, smallest * 2), ticks);
    }

    static String size(double bytes) {
        long size = Math.round(bytes);
        return size < KIBI ? Long.toString(size) : size < KIBI * KIBI ? size / KIBI + "K"
                : size / (KIBI * KIBI) + "M";
    }

    /** Returns a logarithmic axis from a round number below the values to one above. */
    static Axis logarithmic(String label, double smallest, double largest) {
        List<Double> round = new ArrayList<>();
        for (double decade = Math.pow(DECADE, Math.floor(Math.log10(smallest))); decade <= largest * DECADE;
                decade *= DECADE) {
            for (double step : STEPS) {
                round.add(decade * step);
            }
        }
        double from = round.stream().filter(value -> value <= smallest).reduce((a, b) -> b).orElseThrow();
        double to = round.stream().filter(value -> value >= largest && value > from).findFirst().orElseThrow();
        boolean decadesOnly = Math.log10(to / from) > MANY_DECADES;
        List<Tick> ticks = round.stream().filter(value -> value >= from && value <= to)
                .filter(value -> !decadesOnly || isDecade(value))
                .map(value -> new Tick(value, number(value))).toList();
        return new Axis(label, true, from, to, ticks);
    }

    private static boolean isDecade(double value) {
        double exponent = Math.log10(value);
        return Math.abs(exponent - Math.rint(exponent)) < 1e-9;
    }

    /** Returns a linear axis from zero to a round number above the largest value. */
    static Axis fromZero(String label, double largest) {
        double decade = Math.pow(DECADE, Math.floor(Math.log10(Math.max(largest, 1e-9))));
        double step = decade;
        for (double part : new double[] {0.2, 0.5, 1, 2}) {
            if (largest / (decade * part) <= FEW_TICKS) {
                step = decade * part;
                break;
            }
        }
        List<Tick> ticks = new ArrayList<>();
        int count = (int) Math.ceil(largest / step - 1e-9);
        for (int i = 0; i <= count; i++) {
            ticks.add(new Tick(i * step, number(i * step)));
        }
        return new Axis(label, false, 0, count * step, ticks);
    }

    /** Returns an axis for percentiles, on which each further nine has the same length. */
    static Axis percentiles(String label) {
        List<Tick> ticks = new ArrayList<>();
        for (String percentile : List.of("0", "50", "90", "99", "99.9")) {
            ticks.add(new Tick(nines(Double.parseDouble(percentile)), percentile));
        }
        ticks.add(new Tick(nines(100), "max"));
        return new Axis(label, false, 0, nines(100), ticks);
    }

    /** Returns how many nines a percentile has; the maximum is drawn one nine after 99.9. */
    static double nines(double percentile) {
        return percentile >= 100 ? 4 : -Math.log10(1 - percentile / 100);
    }

    static String number(double value) {
        if (value >= 1e6) {
            return trimmed(value / 1e6) + "M";
        }
        return value >= 1e4 ? trimmed(value / 1e3) + "k" : trimmed(value);
    }

    private static String trimmed(double value) {
        String text = String.format(Locale.ROOT, "%.3f", value);
        return text.replaceFirst("\\.?0+$", "");
    }

    /** Returns the position of a value on the axis, from 0 to 1. */
    double position(double value) {
        if (logarithmic) {
            return Math.log(value / from) / Math.log(to / from);
        }
        return (value - from) / (to - from);
    }
}
