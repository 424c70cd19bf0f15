// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.report;

import java.util.List;
import java.util.Locale;

/**
 * Draws a plot as SVG that is readable on a phone too: small, with relatively large letters. Colours come from
 * {@link #STYLE}, which supports light and dark mode.
 */
final class Svg {
    /** The style of all plots. The sides differ in shape too, for people who cannot distinguish the colours. */
    static final String STYLE = """
            .plot{--ink:#212529;--faint:#dee2e6;--java:#c92a2a;--c:#1c7ed6;--jni:#7048e8;--disni:#e8590c;\
            --naive:#868e96;--calls:#2b8a3e;\
            font:12px system-ui,sans-serif;fill:var(--ink)}
            @media(prefers-color-scheme:dark){.plot{--ink:#e9ecef;--faint:#495057;--java:#ff8787;--c:#74c0fc;\
            --jni:#b197fc;--disni:#ffa94d;--naive:#adb5bd;--calls:#8ce99a}}
            .plot .title{font-size:14px;font-weight:600}
            .plot .grid{stroke:var(--faint);stroke-width:1}
            .plot .line{fill:none;stroke-width:2;stroke-linejoin:round}
            .plot .java{--side:var(--java)}.plot .c{--side:var(--c)}
            .plot .jni{--side:var(--jni)}.plot .disni{--side:var(--disni)}.plot .naive{--side:var(--naive)}
            .plot .calls{--side:var(--calls)}
            .plot .line,.plot .dot{stroke:var(--side)}
            .plot .dot{fill:var(--side)}.plot .bar{fill:var(--side)}
            .plot .c.line{stroke-width:6;opacity:.5}.plot .c.dot{stroke:none;opacity:.8}
            """;

    static final int WIDTH = 420;
    private static final int HEIGHT = 300;
    private static final int LEFT = 52;
    private static final int RIGHT = 14;
    private static final int TOP = 46;
    private static final int BOTTOM = 44;
    private static final int LEGEND_STEP = 92;
    /** For the legend of five sides. */
    private static final int NARROW_LEFT = 12;
    private static final int NARROW_LEGEND_STEP = 78;

    private final StringBuilder text = new StringBuilder();
    private final int height;

    private Svg(String title, int height) {
        this.height = height;
        text.append(String.format(Locale.ROOT,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" viewBox=\"0 0 %d %d\" role=\"img\""
                        + " aria-label=\"%s\">%n", WIDTH, height, escape(title)));
        text(LEFT, 16, "title", "start", title);
    }

    /**
     * A curve of one side.
     *
     * @param side the side
     * @param points x and y of each point
     */
    record Series(Side side, List<double[]> points) {
    }

    /**
     * A group of bars.
     *
     * @param label the label of the group
     * @param bars the sides and their values
     */
    record Group(String label, List<Bar> bars) {
    }

    /**
     * A bar.
     *
     * @param side the side
     * @param value the value
     */
    record Bar(Side side, double value) {
    }

    /** {@return a plot with curves; those of C are broad, so that both are visible if they coincide} */
    static String lines(String title, Axis x, Axis y, List<Series> series) {
        Svg svg = new Svg(title, HEIGHT);
        svg.legend(series.stream().map(Series::side).toList());
        svg.axes(x, y);
        for (Series one : series.stream().sorted((a, b) -> b.side().compareTo(a.side())).toList()) {
            svg.curve(one, x, y);
        }
        return svg.end();
    }

    /** {@return a plot with groups of bars, one below the other} */
    static String bars(String title, String unit, List<Group> groups) {
        int count = groups.stream().mapToInt(group -> group.bars().size()).sum();
        Svg svg = new Svg(title, TOP + count * 20 + groups.size() * 24 + 12);
        svg.legend(groups.stream().flatMap(group -> group.bars().stream()).map(Bar::side).distinct().sorted().toList());
        double largest = groups.stream().flatMap(group -> group.bars().stream()).mapToDouble(Bar::value).max()
                .orElse(1);
        double y = TOP;
        for (Group group : groups) {
            svg.text(12, y + 14, "group", "start", group.label());
            y += 20;
            for (Bar bar : group.bars()) {
                double length = (WIDTH - 120) * bar.value() / largest;
                svg.add("<rect class=\"bar %s\" x=\"12\" y=\"%.1f\" width=\"%.1f\" height=\"16\" rx=\"2\"/>",
                        bar.side().id(), y, Math.max(length, 1));
                svg.text(18 + length, y + 13, "value", "start", label(bar.value()) + " " + unit);
                y += 20;
            }
            y += 4;
        }
        return svg.end();
    }

    private static String label(double value) {
        return value >= 100 ? String.format(Locale.ROOT, "%.0f", value) : String.format(Locale.ROOT, "%.3g", value);
    }

    private void legend(List<Side> sides) {
        boolean many = sides.size() > 4;
        int x = many ? NARROW_LEFT : LEFT;
        for (Side side : sides) {
            add("<path class=\"line %s\" d=\"M%d 30h22\"/>", side.id(), x);
            dot(side, x + 11, 30);
            text(x + 28, 34, "legend", "start", name(side));
            x += many ? NARROW_LEGEND_STEP : LEGEND_STEP;
        }
    }

    static String name(Side side) {
        return switch (side) {
            case JAVA -> "Java";
            case C -> "C";
            case JNI -> "JNI";
            case DISNI -> "DiSNI";
            case NAIVE -> "naive FFM";
            case CALLS -> "the calls alone";
            case DIRECT -> "without calls";
        };
    }

    private void axes(Axis x, Axis y) {
        for (Axis.Tick tick : x.ticks()) {
            double at = x(x, tick.value());
            add("<path class=\"grid\" d=\"M%.1f %dV%d\"/>", at, TOP, height - BOTTOM);
            text(at, height - BOTTOM + 16, "tick", "middle", tick.label());
        }
        for (Axis.Tick tick : y.ticks()) {
            double at = y(y, tick.value());
            add("<path class=\"grid\" d=\"M%d %.1fH%d\"/>", LEFT, at, WIDTH - RIGHT);
            text(LEFT - 6, at + 4, "tick", "end", tick.label());
        }
        text((LEFT + WIDTH - RIGHT) / 2.0, height - 8, "label", "middle", x.label());
        add("<text class=\"label\" text-anchor=\"middle\" transform=\"translate(13 %d) rotate(-90)\">%s</text>",
                (TOP + height - BOTTOM) / 2, escape(y.label()));
    }

    private void curve(Series series, Axis x, Axis y) {
        StringBuilder path = new StringBuilder();
        for (double[] point : series.points()) {
            path.append(path.isEmpty() ? 'M' : 'L')
                    .append(String.format(Locale.ROOT, "%.1f %.1f", x(x, point[0]), y(y, point[1])));
        }
        add("<path class=\"line %s\" d=\"%s\"/>", series.side().id(), path);
        for (double[] point : series.points()) {
            dot(series.side(), x(x, point[0]), y(y, point[1]));
        }
    }

    private void dot(Side side, double x, double y) {
        if (side == Side.C) {
            add("<rect class=\"dot c\" x=\"%.1f\" y=\"%.1f\" width=\"8\" height=\"8\"/>", x - 4, y - 4);
        } else {
            add("<circle class=\"dot %s\" cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\"/>", side.id(), x, y);
        }
    }

    private static double x(Axis axis, double value) {
        return LEFT + axis.position(value) * (WIDTH - LEFT - RIGHT);
    }

    private double y(Axis axis, double value) {
        return height - BOTTOM - axis.position(value) * (height - TOP - BOTTOM);
    }

    private void text(double x, double y, String kind, String anchor, String words) {
        add("<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>", kind, x, y, anchor,
                escape(words));
    }

    private void add(String format, Object... values) {
        text.append(String.format(Locale.ROOT, format, values)).append('\n');
    }

    private String end() {
        return text.append("</svg>\n").toString();
    }

    /** {@return the plot with its style included, for a file of its own} */
    static String standalone(String svg) {
        int end = svg.indexOf('>') + 1;
        return svg.substring(0, end) + "\n<style>" + STYLE + "</style>" + svg.substring(end);
    }

    static String escape(String words) {
        return words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\"", "&quot;");
    }
}
