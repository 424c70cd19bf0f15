// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

class ResourcesTest {
    private final Resources resources = new Resources();
    private final List<String> closed = new ArrayList<>();

    private void add(String name, Exception failure) {
        resources.onClose(() -> {
            closed.add(name);
            if (failure instanceof IOException e) {
                throw e;
            }
            if (failure instanceof RuntimeException e) {
                throw e;
            }
        });
    }

    @Test
    void closesTheLastFirst() throws IOException {
        add("first", null);
        add("second", null);
        resources.close();
        assertThat(closed).containsExactly("second", "first");
        resources.close();
        assertThat(closed).hasSize(2);
    }

    @Test
    void closesTheOthersAfterAnyFailureAndThrowsTheFirst() {
        var unchecked = new IllegalStateException("in use");
        var checked = new IOException("not written");
        add("first", null);
        add("second", checked);
        add("third", unchecked);
        assertThatThrownBy(resources::close).isSameAs(unchecked).hasSuppressedException(checked);
        assertThat(closed).containsExactly("third", "second", "first");
    }

    @Test
    void throwsACheckedFailureAsItIs() {
        var checked = new IOException("not written");
        add("first", checked);
        assertThatThrownBy(resources::close).isSameAs(checked);
    }
}
