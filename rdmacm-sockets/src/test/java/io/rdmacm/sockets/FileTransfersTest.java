// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;

import io.rdmacm.verbs.testing.ForkedJvm;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileTransfersTest {
    @TempDir
    private Path folder;

    @Test
    void aFileChannelLeavesTransfersToOurChannels() throws Exception {
        ForkedJvm.Result result = ForkedJvm.of(TransferAgent.class)
                .options("-javaagent:" + AgentJar.in(folder, TransferAgent.class),
                        "--add-exports", "java.base/sun.nio.ch=ALL-UNNAMED").run();

        assertThat(result.output()).as(result.errors()).isEqualTo("to 10 90\n7\nfrom 10 1000\n8\n");
        assertThat(AgentJar.lines(result)).isEmpty();
    }
}
