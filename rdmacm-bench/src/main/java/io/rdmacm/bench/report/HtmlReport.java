// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.report;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The report as one self-contained HTML page. */
final class HtmlReport {
    private static final String STYLE = """
            :root{color-scheme:light dark;--paper:#fff;--ink:#212529;--soft:#868e96;--card:#f1f3f5;--good:#2b8a3e;\
            --bad:#c92a2a}
            @media(prefers-color-scheme:dark){:root{--paper:#16191c;--ink:#e9ecef;--soft:#adb5bd;--card:#23272b;\
            --good:#69db7c;--bad:#ff8787}}
            *{box-sizing:border-box}
            body{margin:0 auto;max-width:1100px;padding:16px;background:var(--paper);color:var(--ink);\
            font:16px/1.5 system-ui,sans-serif}
            h1{font-size:1.6rem;margin:.3em 0}h2{font-size:1.25rem;margin:1.8em 0 .6em}
            p{max-width:70ch}.soft{color:var(--soft)}
            .tiles{display:grid;grid-template-columns:repeat(auto-fill,minmax(160px,1fr));gap:10px}
            .tile{background:var(--card);border-radius:8px;padding:10px 12px}
            .tile b{display:block;font-size:1.5rem;line-height:1.3}.tile span{font-size:.8rem;display:block}
            .met b{color:var(--good)}.missed b{color:var(--bad)}.unknown b{color:var(--soft);font-weight:400}
            .plots{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,420px),1fr));gap:14px}
            .plots figure{margin:0;background:var(--card);border-radius:8px;padding:8px}.plots svg{width:100%;\
            height:auto;display:block}
            dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 14px}dt{color:var(--soft)}dd{margin:0;\
            overflow-wrap:anywhere}
            .wide{overflow-x:auto}table{border-collapse:collapse;font-size:.85rem}\
            th,td{padding:3px 10px;text-align:left;border-bottom:1px solid var(--card);white-space:nowrap}
            td:nth-child(n+3){text-align:right;font-variant-numeric:tabular-nums}summary{cursor:pointer}
            @media(max-width:500px){dl{grid-template-columns:1fr}dd{margin-bottom:6px}}
            """;

    private final Results results;
    private final StringBuilder page = new StringBuilder();

    private HtmlReport(Results results) {
        this.results = results;
    }

    static String of(Results results) {
        return new HtmlReport(results).build();
    }

    private String build() {
        page.append("""
                <!doctype html>
                <html lang="en">
                <head>
                <meta charset="utf-8">
                <meta name="viewport" content="width=device-width, initial-scale=1">
                <title>rdmacm for Java: benchmarks</title>
                <style>
                """).append(STYLE).append(Svg.STYLE).append("""
                </style>
                </head>
                <body>
                <h1>rdmacm for Java beside C</h1>
                <p>Each figure is a median of repetitions in which both sides took turns. Figures of a software device
                (rxe, siw) show how the two sides compare; they are not figures of RDMA hardware.</p>
                """);
        tiles();
        page.append("<h2>Where it ran</h2>\n<dl>\n");
        results.environment().forEach((name, value) -> page.append("<dt>").append(Svg.escape(name))
                .append("</dt><dd>").append(Svg.escape(value)).append("</dd>\n"));
        page.append("</dl>\n");
        Plots.of(results).stream().collect(Collectors.groupingBy(Plot::section, TreeMap::new,
                Collectors.toList())).forEach(this::section);
        tables();
        return page.append("</body>\n</html>\n").toString();
    }

    private void tiles() {
        Map<String, Double> summary = Summary.of(results);
        page.append("<div class=\"tiles\">\n");
        for (Goal goal : Goal.of(summary)) {
            String state = summary.get(goal.name()) == null ? "unknown"
                    : goal.text().isEmpty() ? "plain" : goal.isMet(summary) ? "met" : "missed";
            page.append("<div class=\"tile ").append(state).append("\"><span class=\"soft\">")
                    .append(goal.name().replace('_', ' ')).append("</span><b>").append(goal.value(summary))
                    .append("</b><span>").append(goal.text().isEmpty() ? "" : "goal: " + goal.text() + ". ")
                    .append(Svg.escape(goal.meaning())).append("</span></div>\n");
        }
        page.append("</div>\n");
    }

    private void section(Plot.Section section, List<Plot> plots) {
        page.append("<h2>").append(section.heading()).append("</h2>\n<div class=\"plots\">\n");
        for (Plot plot : plots) {
            page.append("<figure>").append(plot.svg()).append("</figure>\n");
        }
        page.append("</div>\n");
    }

    private void tables() {
        List<Comparison> all = Comparison.of(results);
        page.append("<h2>All figures</h2>\n<details><summary>").append(all.size())
                .append(" rows</summary>\n<div class=\"wide\"><table>\n<tr>");
        Comparison.heads().forEach(head -> page.append("<th>").append(Svg.escape(head)).append("</th>"));
        page.append("</tr>\n");
        for (Comparison one : all) {
            page.append("<tr>");
            one.cells().forEach(cell -> page.append("<td>").append(Svg.escape(cell)).append("</td>"));
            page.append("</tr>\n");
        }
        page.append("</table></div></details>\n");
    }
}
