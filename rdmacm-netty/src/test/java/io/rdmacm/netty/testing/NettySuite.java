// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty.testing;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A class of tests of Netty's test suite for transports. Those in {@link LeftOut} are skipped, the others counted, and
 * a leaked buffer fails the class. They run last: some leave streams open, with which the memory that others have used
 * stays registered.
 */
@Documented
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Order(Integer.MAX_VALUE)
@ExtendWith({NoLeaks.class, LeftOut.class})
public @interface NettySuite {
}
