// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import java.lang.reflect.Field;

/** A field that has another value for a while: for failures, such as want of memory, that cannot be had otherwise. */
public final class ReplacedField implements AutoCloseable {
    private final Object owner;
    private final Field field;
    private final Object former;

    /**
     * Replaces the value of a field.
     *
     * @param owner the object, or the class if the field is static
     */
    public ReplacedField(Object owner, String name, Object value) throws ReflectiveOperationException {
        this.owner = owner;
        field = (owner instanceof Class<?> type ? type : owner.getClass()).getDeclaredField(name);
        field.setAccessible(true);
        former = field.get(owner);
        field.set(owner, value);
    }

    /** Returns the value that it had before. */
    public Object former() {
        return former;
    }

    /** Restores the former value. */
    @Override
    public void close() throws ReflectiveOperationException {
        field.set(owner, former);
    }
}
