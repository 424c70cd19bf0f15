// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.ffi;

import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

import io.rdmacm.bindings.NativeLibrary;
import io.rdmacm.verbs.error.NativeLibraryException;

/** Looks functions up; throws NativeLibraryException if a library or a function is missing. */
enum Symbols {
    /** librdmacm and libibverbs. */
    RDMA {
        @Override
        Optional<MemorySegment> findOptional(String symbol) throws NativeLibraryException {
            NativeLibrary library = NativeLibrary.of(symbol);
            FileLimit.checkBeginning(library.soname(), symbol);
            try {
                return library.find(symbol);
            } catch (IllegalCallerException e) {
                throw NativeAccess.denied(e);
            } catch (UnsatisfiedLinkError e) {
                throw notLoaded(library == NativeLibrary.LIBRDMACM ? culprit(symbol) : library, symbol, e);
            }
        }

        /** Returns which library is missing: librdmacm also fails to load if libibverbs, which it needs, is missing. */
        private static NativeLibrary culprit(String symbol) {
            try {
                NativeLibrary.LIBIBVERBS.find(symbol);
                return NativeLibrary.LIBRDMACM;
            } catch (UnsatisfiedLinkError e) {
                return NativeLibrary.LIBIBVERBS;
            }
        }

        /** Returns the exception for a library that is missing, or that the dynamic linker refuses otherwise. */
        private static NativeLibraryException notLoaded(NativeLibrary library, String symbol, UnsatisfiedLinkError e)
                throws NativeLibraryException {
            String reason = Libc.loadError(library.soname());
            // musl names the library that needs a missing one, glibc only the missing one
            boolean missing = reason.isEmpty() || reason.contains(library.soname())
                    && reason.contains("No such file") && !reason.contains("needed by");
            return missing
                    ? LibraryFailures.missingLibrary(library.soname(), symbol, library.debianPackage(), e)
                    : LibraryFailures.unusableLibrary(library.soname(), symbol, reason, e);
        }

        @Override
        NativeLibraryException missing(String symbol) {
            NativeLibrary library = NativeLibrary.of(symbol);
            return LibraryFailures.missingSymbol(symbol, library.soname(), library.debianPackage(),
                    NativeLibrary.since(symbol).orElse(""), library.release().orElse(""));
        }
    },

    /** The C library. */
    LIBC {
        @Override
        Optional<MemorySegment> findOptional(String symbol) throws NativeLibraryException {
            FileLimit.checkBeginning("the C library", symbol);
            return Linker.nativeLinker().defaultLookup().find(symbol);
        }

        @Override
        NativeLibraryException missing(String symbol) {
            return LibraryFailures.missingSymbol(symbol, "the C library", "libc6");
        }
    };

    abstract Optional<MemorySegment> findOptional(String symbol) throws NativeLibraryException;

    abstract NativeLibraryException missing(String symbol);

    MemorySegment find(String symbol) throws NativeLibraryException {
        return findOptional(symbol).orElseThrow(() -> missing(symbol));
    }
}
