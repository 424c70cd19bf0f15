// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.support;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Option values that are numbers in the notations of C: 17, 0x11, 021. */
public final class NumberConverter implements ITypeConverter<Integer> {
    /** Made by picocli. */
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
