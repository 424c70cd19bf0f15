// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Plots the memory of a soak as SVG: heap and RSS after each interval. Arguments: what {@code scripts/soak} printed,
 * and the file to write.
 */
final class SoakPlot {
    private static final Pattern SAMPLE = Pattern
            .compile("(?m)^(\\d+):(\\d\\d) .*connections.*heap ([\\d.]+) MiB, RSS ([\\d.]+) MiB");
    private static final int WIDTH = 640;
    private static final int HEIGHT = 240;
    private static final int LEFT = 48;
    private static final int RIGHT = 60;
    private static final int TOP = 34;
    private static final int BOTTOM = 40;
    private static final int STEPS = 5;

    private final double minutes;
    private final double most;
    private final StringBuilder svg = new StringBuilder();

    private SoakPlot(List<double[]> samples) {
        minutes = Math.ceil(samples.getLast()[0] / 25) * 25;
        most = Math.ceil(samples.stream().mapToDouble(sample -> sample[2]).max().orElseThrow() / 50) * 50;
    }

    public static void main(String[] args) throws IOException {
        List<double[]> samples = new ArrayList<>();
        for (MatchResult found : SAMPLE.matcher(Files.readString(Path.of(args[0]))).results().toList()) {
            samples.add(new double[] {Integer.parseInt(found.group(1)) + Integer.parseInt(found.group(2)) / 60.0,
                Double.parseDouble(found.group(3)), Double.parseDouble(found.group(4))});
        }
        if (samples.size() < 2) {
            throw new IllegalArgumentException(args[0] + " has no two samples of a soak");
        }
        Files.writeString(Path.of(args[1]), new SoakPlot(samples).draw(samples));
    }

    private String draw(List<double[]> samples) {
        add("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\""
                + " aria-label=\"Memory of a soak\" font-family=\"sans-serif\" font-size=\"12\">", WIDTH, HEIGHT);
        add("<style>text{fill:#212529}.grid{stroke:#dee2e6}@media(prefers-color-scheme:dark)"
                + "{text{fill:#e9ecef}.grid{stroke:#495057}}</style>");
        add("<text x=\"%d\" y=\"18\" font-size=\"14\" font-weight=\"600\">Memory of a soak, MiB</text>", LEFT);
        for (int i = 0; i <= STEPS; i++) {
            double value = most * i / STEPS;
            add("<path class=\"grid\" d=\"M%d %.1fH%d\"/>", LEFT, y(value), WIDTH - RIGHT);
            add("<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.0f</text>", LEFT - 6, y(value) + 4, value);
            double time = minutes * i / STEPS;
            add("<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.0f min</text>", x(time), HEIGHT - BOTTOM + 18,
                    time);
        }
        line(samples, 1, "heap", "#1c7ed6");
        line(samples, 2, "RSS", "#c92a2a");
        add("</svg>");
        return svg.toString();
    }

    private void line(List<double[]> samples, int column, String name, String colour) {
        add("<path fill=\"none\" stroke-width=\"2\" stroke=\"%s\" d=\"M%s\"/>", colour, samples.stream()
                .map(sample -> String.format(Locale.ROOT, "%.1f %.1f", x(sample[0]), y(sample[column])))
                .collect(Collectors.joining("L")));
        add("<text x=\"%d\" y=\"%.1f\">%s</text>", WIDTH - RIGHT + 8, y(samples.getLast()[column]) + 4, name);
    }

    private double x(double time) {
        return LEFT + time / minutes * (WIDTH - LEFT - RIGHT);
    }

    private double y(double value) {
        return HEIGHT - BOTTOM - value / most * (HEIGHT - TOP - BOTTOM);
    }

    private void add(String format, Object... values) {
        svg.append(String.format(Locale.ROOT, format, values)).append('\n');
    }
}
