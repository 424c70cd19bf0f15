// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Method;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Where the maps from other libraries name a method of this one, there is such a method. */
class NamesInDocumentsTest {
    private static final Pattern METHOD = Pattern.compile("`([A-Z]\\w+)\\.([a-z]\\w+)`");
    private static final List<String> PACKAGES = List.of("io.rdmacm.core.connection.", "io.rdmacm.core.",
            "io.rdmacm.verbs.", "io.rdmacm.verbs.flow.", "io.rdmacm.verbs.device.", "io.rdmacm.verbs.queue.",
            "io.rdmacm.verbs.work.", "io.rdmacm.verbs.address.", "io.rdmacm.verbs.error.");

    @ParameterizedTest
    @ValueSource(strings = {"docs/coming-from-c.md", "docs/coming-from-disni.md", "docs/guide.md"})
    void everyNamedMethodIsThere(String document) throws Exception {
        String text = Files.readString(Documents.root().resolve(document));
        // The left column of a map is the other library's.
        List<MatchResult> named = text.lines().map(line -> line.startsWith("|") ? line.substring(
                line.indexOf('|', 1)) : line).flatMap(line -> METHOD.matcher(line).results()).toList();

        assertThat(named).isNotEmpty().allSatisfy(name -> assertThat(methods(name.group(1)))
                .describedAs(name.group()).contains(name.group(2)));
    }

    private static Stream<String> methods(String simpleName) {
        return PACKAGES.stream().flatMap(packageName -> {
            try {
                return Arrays.stream(Class.forName(packageName + simpleName).getMethods()).map(Method::getName);
            } catch (ClassNotFoundException e) {
                return Stream.empty();
            }
        });
    }
}
