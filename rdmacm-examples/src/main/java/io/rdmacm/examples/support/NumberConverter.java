// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.support;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Converts decimal, hexadecimal and octal numbers on the command line: 17, 0x11, 021. */
public final class NumberConverter implements ITypeConverter<Integer> {
    /** Created by picocli. */
    public NumberConverter() {
    }

    @Override
    public Integer convert(String text) {
        try {
            return Integer.decode(text);
        } catch (NumberFormatException e) {
            throw new TypeConversionException("'" + text + "' is not a number");
        }
    }
}
