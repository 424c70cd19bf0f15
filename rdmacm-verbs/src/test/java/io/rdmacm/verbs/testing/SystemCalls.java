// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.util.List;

/** Functions of the C library that only tests need. */
final class SystemCalls {
    private SystemCalls() {
    }

    /** Calls a function that returns a number. */
    static long longOf(String function, FunctionDescriptor descriptor, Object... arguments) {
        return call(function, descriptor, List.of(), arguments);
    }

    /** Calls a function whose arguments from an index on are behind the dots. */
    static long variadic(String function, int first, FunctionDescriptor descriptor, Object... arguments) {
        return call(function, descriptor, List.of(Linker.Option.firstVariadicArg(first)), arguments);
    }

    @SuppressWarnings("restricted")
    private static long call(String function, FunctionDescriptor descriptor, List<Linker.Option> options,
            Object... arguments) {
        Linker linker = Linker.nativeLinker();
        try {
            return ((Number) linker.downcallHandle(linker.defaultLookup().findOrThrow(function), descriptor,
                    options.toArray(Linker.Option[]::new)).invokeWithArguments(arguments)).longValue();
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}
