// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.driver;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;

/** Creates hidden classes from a template, each with data of its own that are constants for the JIT compiler. */
final class Templates {
    private Templates() {
    }

    /**
     * Returns an instance of a new class.
     *
     * @param template a class of this package that has no nested classes and a no-argument constructor; it reads its
     *        data with {@link MethodHandles#classData}
     * @param data the data of the new class
     */
    static Object instantiate(Class<?> template, Object data) {
        try (InputStream bytes = template.getResourceAsStream(template.getSimpleName() + ".class")) {
            return MethodHandles.lookup().defineHiddenClassWithClassData(bytes.readAllBytes(), data, true)
                    .lookupClass().getDeclaredConstructor().newInstance();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }
}
