// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bindings.testing;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.stream.Collectors;

/** The facts that hold only from a release after rdma-core 44 on. */
public final class NewerFacts {
    // "constant NAME", "struct NAME", "member NAME" or "size NAME", and the release
    private final Map<String, Integer> releases;

    /** Reads the list. */
    public NewerFacts() throws IOException {
        try (InputStream file = Facts.class.getResourceAsStream("/io/rdmacm/bindings/newer-than-44.txt")) {
            releases = new String(file.readAllBytes(), StandardCharsets.US_ASCII).lines()
                    .filter(line -> !line.startsWith("#"))
                    .collect(Collectors.toMap(line -> line.substring(line.indexOf(' ') + 1),
                            line -> Integer.parseInt(line.substring(0, line.indexOf(' ')))));
        }
    }

    /** Returns the first release whose headers say so. */
    public int since(Facts.Fact fact) {
        String name = fact.name().replace(" from context", "");
        String kind = switch (fact.kind()) {
            case CONSTANT -> "constant";
            case SIZE -> "size";
            case OFFSET, MEMBER_SIZE -> "member";
            case ALIGNMENT -> "alignment";
        };
        int since = release(kind + " " + name);
        // A struct is as old as the member that it is the type of.
        for (String part = name; part.contains("."); part = part.substring(0, part.lastIndexOf('.'))) {
            since = Math.max(since, release("member " + part));
        }
        return Math.max(since, release("struct " + name.replaceFirst("\\..*", "")));
    }

    private int release(String entry) {
        return releases.getOrDefault(entry, RdmaCore.OLDEST);
    }
}
