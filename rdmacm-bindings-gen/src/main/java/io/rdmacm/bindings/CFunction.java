// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bindings;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** The functions and macros of the C headers that a method offers. The table in docs/coverage.md is made of it. */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.CONSTRUCTOR})
public @interface CFunction {
    /** The C names. */
    String[] value();
}
