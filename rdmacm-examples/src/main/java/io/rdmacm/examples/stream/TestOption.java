// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.stream;

import java.util.Locale;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A value of {@code -T}: a letter or a word, of which the beginning is enough. */
enum TestOption {
    SOCKETS("s", "socket"), ASYNC("a", "async"), BLOCKING("b", "block"), FORK("f", "fork"),
    NONBLOCKING("n", "nonblock"), RESOLVE("r", "resolve"), VERIFY("v", "verify");

    private final String letter;
    private final String word;

    TestOption(String letter, String word) {
        this.letter = letter;
        this.word = word;
    }

    /** Converts the letters and the words. */
    static final class Converter implements ITypeConverter<TestOption> {
        Converter() {
        }

        @Override
        public TestOption convert(String text) {
            for (TestOption option : values()) {
                if (text.equals(option.letter) || text.toLowerCase(Locale.ROOT).startsWith(option.word)) {
                    return option;
                }
            }
            throw new TypeConversionException("'" + text + "' is no test option");
        }
    }
}
