// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.thirdparty;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Files that variables of the environment name. */
public final class NamedFiles {
    private NamedFiles() {
    }

    /**
     * {@return the file of each variable; empty if none is set}
     *
     * @param environment the environment
     * @param variables the variables, which are needed together
     * @throws IllegalArgumentException if only some are set, or there is no such file
     */
    public static Optional<Map<String, Path>> of(Map<String, String> environment, List<String> variables) {
        List<String> unset = variables.stream().filter(name -> environment.getOrDefault(name, "").isEmpty()).toList();
        if (unset.size() == variables.size()) {
            return Optional.empty();
        }
        if (!unset.isEmpty()) {
            throw new IllegalArgumentException(String.join(", ", unset) + " must be set too: all of "
                    + String.join(", ", variables) + " are needed");
        }
        Map<String, Path> files = new LinkedHashMap<>();
        for (String name : variables) {
            Path file = Path.of(environment.get(name)).toAbsolutePath();
            if (!Files.isRegularFile(file)) {
                throw new IllegalArgumentException(name + ": there is no file " + file);
            }
            files.put(name, file);
        }
        return Optional.of(files);
    }
}
