// SPDX-License-Identifier: Apache-2.0

/**
 * Draws what a command printed as an SVG: {@code scripts/demo 2>&1 | java scripts/lib/TerminalPicture.java
 * ./scripts/demo > docs/demo.svg}.
 */
private static final int COLUMNS = 88;
private static final int LINE = 18;
private static final int COLUMN = 8;
private static final int MARGIN = 14;

void main(String[] args) throws IOException {
    List<String> lines = new ArrayList<>(List.of("$ " + args[0]));
    lines.addAll(new BufferedReader(new InputStreamReader(System.in)).lines().toList());
    int height = lines.size() * LINE + 2 * MARGIN;
    IO.println("""
            <svg xmlns="http://www.w3.org/2000/svg" width="%1$d" height="%2$d" viewBox="0 0 %1$d %2$d" role="img"
            aria-label="%3$s">
            <style>text{font:13px ui-monospace,monospace;fill:#e9ecef;white-space:pre}.say{fill:#74c0fc}</style>
            <rect width="100%%" height="100%%" rx="8" fill="#212529"/>"""
            .formatted(COLUMNS * COLUMN + 2 * MARGIN, height, escape(args[0])));
    for (int i = 0; i < lines.size(); i++) {
        String line = lines.get(i);
        String shown = line.length() > COLUMNS ? line.substring(0, COLUMNS - 1) + "…" : line;
        String style = line.matches("[\\w-]+: .*|\\$ .*") ? " class=\"say\"" : "";
        IO.println("<text x=\"%d\" y=\"%d\"%s>%s</text>".formatted(MARGIN, MARGIN + LINE * (i + 1) - 5, style,
                escape(shown)));
    }
    IO.println("</svg>");
}

private String escape(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;");
}
