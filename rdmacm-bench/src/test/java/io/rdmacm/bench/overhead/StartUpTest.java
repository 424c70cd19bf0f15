// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;

import io.rdmacm.bench.report.Result;
import io.rdmacm.bench.report.Side;
import io.rdmacm.bench.report.Summary;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

class StartUpTest {
    @Test
    void aJvmPostsItsFirstRequest() throws Exception {
        String missing = NullProvider.missing();
        Assumptions.assumeTrue(missing == null, missing);
        List<Result> results = StartUp.measure(1);
        assertThat(results).isNotEmpty().allSatisfy(result -> {
            assertThat(result.name()).isEqualTo(Summary.FIRST_POST);
            assertThat(result.side()).isEqualTo(Side.JAVA);
            assertThat(result.value()).isPositive();
        });
        assertThat(results.getFirst().params()).containsEntry("cache", false);
    }
}
