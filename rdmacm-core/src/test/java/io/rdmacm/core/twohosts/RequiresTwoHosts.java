// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.twohosts;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.junit.jupiter.api.Tag;

/**
 * A class of tests that need two hosts. They run on the client's host of {@code scripts/with-rdma --hosts 2}, with a
 * {@link Partner} on the server's; {@code scripts/test --long} runs them. The name of the class ends with
 * {@code TwoHostsTest} ({@link io.rdmacm.verbs.testing.Tiers Tiers}).
 */
@Documented
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Tag("twohosts")
public @interface RequiresTwoHosts {
}
