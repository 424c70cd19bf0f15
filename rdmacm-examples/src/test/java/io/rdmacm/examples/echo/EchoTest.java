// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.echo;

import io.rdmacm.examples.testing.CommandLines;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The command line of the program echo. */
class EchoTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
        "echo -a 127.0.0.1 | either -s or -c: be the server or the client",
        "echo -s | Missing required option: '-a=ADDR'",
        "echo -c -a 127.0.0.1 -p 0 | a client needs the server's port: -p PORT",
        "echo -s -a 127.0.0.1 -S 0 | Invalid size 0 (valid range is 1 to 1048576)",
        "echo -c -a 127.0.0.1 -C 0 | Invalid count 0"})
    void wrongArgumentsEndWithOneLine(String command, String reason) throws Exception {
        CommandLines.assertRefused(command, reason);
    }
}
