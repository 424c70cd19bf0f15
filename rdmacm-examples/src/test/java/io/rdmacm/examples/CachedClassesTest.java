// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import io.rdmacm.examples.testing.Documents;
import org.junit.jupiter.api.Test;

/** The list of classes that the scripts cache: what has a new name is loaded slowly, and nobody would notice. */
class CachedClassesTest {
    @Test
    void oursExist() throws IOException {
        Path list = Documents.root().resolve("scripts/lib/classes.txt");
        List<String> ours = Files.readAllLines(list).stream().filter(line -> line.startsWith("io/rdmacm/"))
                .map(line -> line.replace('/', '.')).toList();

        assertThat(ours).hasSizeGreaterThan(100).filteredOn(name -> !exists(name))
                .describedAs("to write the list anew: scripts/with-rdma scripts/lib/list-classes").isEmpty();
    }

    private static boolean exists(String name) {
        try {
            Class.forName(name, false, CachedClassesTest.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }
}
