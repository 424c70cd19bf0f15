// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.grpc;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.Stream;

import io.grpc.testing.integration.AbstractInteropTest;
import io.rdmacm.verbs.testing.Nightly;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** All cases of gRPC's interoperability tests, over both event loops. */
@Nightly
@RequiresRdma
class GrpcInteropDeviceTest {
    @TestFactory
    Stream<DynamicTest> rdma() {
        return cases(Transport.RDMA);
    }

    @TestFactory
    Stream<DynamicTest> epoll() {
        return cases(Transport.EPOLL);
    }

    private static Stream<DynamicTest> cases(Transport transport) {
        return Arrays.stream(AbstractInteropTest.class.getMethods())
                .filter(method -> method.isAnnotationPresent(org.junit.Test.class))
                .sorted(Comparator.comparing(Method::getName))
                .map(method -> DynamicTest.dynamicTest(method.getName(), () -> {
                    try (InteropCase each = new InteropCase(transport)) {
                        each.run(method);
                    }
                }));
    }
}
