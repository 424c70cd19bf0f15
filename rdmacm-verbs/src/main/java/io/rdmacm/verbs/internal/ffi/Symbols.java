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
                NativeLibrary missing = library == NativeLibrary.LIBRDMACM ? culprit(symbol) : library;
                throw NativeLibraryException.missingLibrary(missing.soname(), symbol, missing.debianPackage(), e);
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

        @Override
        NativeLibraryException missing(String symbol) {
            NativeLibrary library = NativeLibrary.of(symbol);
            return NativeLibraryException.missingSymbol(symbol, library.soname(), library.debianPackage(),
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
            return NativeLibraryException.missingSymbol(symbol, "the C library", "libc6");
        }
    };

    abstract Optional<MemorySegment> findOptional(String symbol) throws NativeLibraryException;

    abstract NativeLibraryException missing(String symbol);

    MemorySegment find(String symbol) throws NativeLibraryException {
        return findOptional(symbol).orElseThrow(() -> missing(symbol));
    }
}
