// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;

import io.rdmacm.sockets.forked.HttpProgram;
import io.rdmacm.verbs.testing.ForkedJvm;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A program with the agent runs as without it, whatever the machine has. */
class AgentTest {
    @TempDir
    private Path folder;

    private ForkedJvm.Result run(String argument, String... options) throws Exception {
        return ForkedJvm.of(HttpProgram.class).options("-javaagent:" + AgentJar.in(folder) + argument)
                .options(options).run("127.0.0.1", "127.0.0.1");
    }

    @Test
    void itSaysInOneLineWhatItDoes() throws Exception {
        ForkedJvm.Result result = run("", "-Dio.rdmacm.sockets.log=INFO");

        assertThat(result.status()).as(result.errors()).isZero();
        assertThat(result.output().lines()).hasSize(4).allMatch(line -> line.endsWith(" true"));
        assertThat(AgentJar.lines(result)).hasSize(1)
                .allMatch(line -> line.startsWith("rdmacm-sockets: INFO "));
    }

    @Test
    void whereItCannotHelpItSaysNothing() throws Exception {
        ForkedJvm.Result result = run("");

        assertThat(result.status()).as(result.errors()).isZero();
        assertThat(AgentJar.lines(result))
                .allMatch(line -> line.startsWith("rdmacm-sockets: INFO connections go over RDMA"));
    }

    @Test
    void aRuntimeWithoutBeansAndRecorderIsEnough() throws Exception {
        ForkedJvm.Result result = run("", "-Dio.rdmacm.sockets.log=INFO",
                "--limit-modules", "java.base,java.instrument,java.net.http,jdk.httpserver");

        assertThat(result.status()).as(result.errors()).isZero();
        assertThat(result.output().lines()).hasSize(4).allMatch(line -> line.endsWith(" true"));
        assertThat(AgentJar.lines(result)).hasSize(1).allMatch(line -> line.startsWith("rdmacm-sockets: INFO "))
                .noneMatch(line -> line.contains("NoClassDefFound"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"=besides:1", "=/no/such/file"})
    void aWrongArgumentEndsNoProgram(String argument) throws Exception {
        ForkedJvm.Result result = run(argument);

        assertThat(result.output().lines()).hasSize(4).allMatch(line -> line.endsWith(" true"));
        assertThat(AgentJar.lines(result)).hasSize(1).allMatch(line -> line.contains("does nothing"));
    }
}
