// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import io.rdmacm.examples.testing.Kind;
import io.rdmacm.examples.testing.Program;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.Requirements;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The program http_server, and an unchanged curl that preloads the C library of rsockets. */
@RequiresRdma
class HttpServerDeviceTest {
    private static final List<Path> PRELOADS = List.of(
            Path.of("/usr/lib/x86_64-linux-gnu/rsocket/librspreload.so"),
            Path.of("/usr/lib/aarch64-linux-gnu/rsocket/librspreload.so"),
            Path.of("/usr/lib64/rsocket/librspreload.so"));

    @ParameterizedTest
    @ValueSource(ints = {0, 10, 100_000, 10_000_000})
    void curlFetches(int length, @TempDir Path folder) throws Exception {
        Requirements.requireProgram("curl", "curl");
        Path preload = PRELOADS.stream().filter(Files::exists).findFirst().orElse(null);
        Requirements.require(preload != null, "librspreload.so is not installed (package librdmacm1)");
        String host = RdmaTestDevice.get().ipv4().getHostAddress();
        Path file = folder.resolve("fetched");
        try (Program server = Kind.JAVA.start("http_server", "-a", host)) {
            String port = server.awaitOutput("listening on port (\\d+)").group(1);
            ProcessBuilder curl = new ProcessBuilder("curl", "-sS", "--noproxy", "*", "-o", file.toString(), "-w",
                    "%{http_code}", "http://" + host + ":" + port + "/" + length);
            curl.environment().put("LD_PRELOAD", preload.toString());
            try (Program client = Program.process(curl)) {
                assertThat(client.result()).isEqualTo(new Program.Result(0, "200", ""));
            }
        }
        byte[] expected = new byte[length];
        for (int i = 0; i < length; i++) {
            expected[i] = (byte) ('a' + i % 26);
        }
        assertThat(Files.readAllBytes(file)).isEqualTo(expected);
    }
}
