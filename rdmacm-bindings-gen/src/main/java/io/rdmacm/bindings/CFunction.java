// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bindings;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Names the functions and macros of the C headers that a method makes available, or that the {@code close} of a class
 * calls. The table in docs/coverage.md is generated from these annotations.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.CONSTRUCTOR, ElementType.TYPE})
public @interface CFunction {
    /** {@return the names of the functions and macros in C} */
    String[] value();
}
