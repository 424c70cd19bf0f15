// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.efa;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacm.verbs.forked.QueryEfa;
import io.rdmacm.verbs.testing.ForkedJvm;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import org.junit.jupiter.api.Test;

/** What a program is told where libefa is missing. */
@WithFakeVerbs
class EfaMissingTest {
    @Test
    void theLibraryIsNamedWithItsPackage() throws Exception {
        ForkedJvm.Result result = ForkedJvm.of(QueryEfa.class).nativeAccess()
                .property("io.rdmacm.libefa", "libnotthere.so.1").run();

        assertThat(result.output().strip()).describedAs(result.errors()).isEqualTo("cannot load libnotthere.so.1,"
                + " which efadv_query_device needs: install the Debian or Ubuntu package ibverbs-providers, elsewhere"
                + " rdma-core");
    }
}
