// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.report;

import java.util.List;
import java.util.Locale;

/** Draws groups of bars as SVG, small enough for a phone, with colours for light and for dark. */
final class Svg {
    private static final int WIDTH = 420;
    private static final int TOP = 48;
    private static final int BAR = 20;
    private static final int LEGEND = 12;

    private static final String STYLE = "<style>text{font:12px system-ui,sans-serif;fill:#212529}"
            + ".title{font-size:14px;font-weight:600}.java{fill:#c92a2a}.c{fill:#1c7ed6}.jni{fill:#7048e8}"
            + ".disni{fill:#e8590c}.naive{fill:#868e96}"
            + "@media(prefers-color-scheme:dark){text{fill:#e9ecef}.java{fill:#ff8787}.c{fill:#74c0fc}"
            + ".jni{fill:#b197fc}.disni{fill:#ffa94d}.naive{fill:#adb5bd}}</style>\n";

    private final StringBuilder text = new StringBuilder();

    private Svg() {
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

    /** {@return a plot with groups of bars, one below the other} */
    static String bars(String title, String unit, List<Group> groups) {
        List<Bar> all = groups.stream().flatMap(group -> group.bars().stream()).toList();
        double largest = all.stream().mapToDouble(Bar::value).max().orElse(1);
        Svg svg = new Svg();
        svg.add("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">",
                WIDTH, TOP + all.size() * BAR + groups.size() * (BAR + 4) + 12, escape(title));
        svg.text.append(STYLE);
        svg.text(LEGEND, 16, "title", title);
        double x = LEGEND;
        for (Side side : all.stream().map(Bar::side).distinct().sorted().toList()) {
            svg.add("<rect class=\"%s\" x=\"%.0f\" y=\"26\" width=\"10\" height=\"10\"/>", side.id(), x);
            svg.text(x + 14, 35, "legend", side.label());
            x += 30 + 7 * side.label().length();
        }
        double y = TOP;
        for (Group group : groups) {
            svg.text(LEGEND, y + 14, "group", group.label());
            y += BAR;
            for (Bar bar : group.bars()) {
                double length = Math.max(1, (WIDTH - 120) * bar.value() / largest);
                svg.add("<rect class=\"%s\" x=\"12\" y=\"%.1f\" width=\"%.1f\" height=\"16\" rx=\"2\"/>",
                        bar.side().id(), y, length);
                svg.text(18 + length, y + 13, "value", number(bar.value()) + " " + unit);
                y += BAR;
            }
            y += 4;
        }
        return svg.text.append("</svg>\n").toString();
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, value >= 100 ? "%.0f" : "%.3g", value);
    }

    private void text(double x, double y, String kind, String words) {
        add("<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">%s</text>", kind, x, y, escape(words));
    }

    private void add(String format, Object... values) {
        text.append(String.format(Locale.ROOT, format, values)).append('\n');
    }

    private static String escape(String words) {
        return words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\"", "&quot;");
    }
}
