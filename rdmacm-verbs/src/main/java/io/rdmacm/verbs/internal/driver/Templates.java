// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.driver;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;

/** Makes classes of a template: each has data of its own, which are constants to the compiler. */
final class Templates {
    private Templates() {
    }

    /**
     * An object of a new class.
     *
     * @param template a class of this package without nested classes and with a constructor of no arguments; it gets at
     *        its data by {@link MethodHandles#classData}
     * @param data for it
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
