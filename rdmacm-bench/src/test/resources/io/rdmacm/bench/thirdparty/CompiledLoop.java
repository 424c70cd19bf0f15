// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.thirdparty;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.function.IntToLongFunction;

/** Multiplies by the number in the jar. */
public final class CompiledLoop implements IntToLongFunction {
    @Override
    public long applyAsLong(int operations) {
        try (InputStream in = CompiledLoop.class.getClassLoader().getResourceAsStream("numbers.txt")) {
            return (long) operations * (in.read() - '0');
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
