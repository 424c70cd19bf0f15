// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.twohosts;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.junit.jupiter.api.Tag;

/**
 * A test that plays on the client's host of {@code scripts/with-rdma --hosts 2}, with a {@link Partner} on the
 * server's. Run by {@code scripts/test --long}.
 */
@Documented
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Tag("twohosts")
public @interface RequiresTwoHosts {
}
