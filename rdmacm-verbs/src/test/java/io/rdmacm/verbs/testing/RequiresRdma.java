// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A class of tests that need an RDMA device, a real one or SoftRoCE. Without a device they are skipped with the reason,
 * or fail if the environment has {@code RDMACM_REQUIRE_DEVICE=true}. The name of the class ends with {@code DeviceTest}
 * ({@link Tiers}).
 */
@Documented
@Inherited
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Tag("device")
@ExtendWith(RequiresRdmaCondition.class)
public @interface RequiresRdma {
    /** Whether the tests connect queue pairs without a connection manager, which iWARP has not. */
    boolean connectedByHand() default false;
}
