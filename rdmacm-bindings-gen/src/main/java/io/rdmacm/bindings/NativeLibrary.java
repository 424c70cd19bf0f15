// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bindings;

import java.io.IOException;
import java.lang.foreign.AddressLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The native libraries. Each is opened by its soname when one of its functions is used for the first time.
 *
 * <p>The constants, layouts and descriptors of this package need neither library. A different soname, or a path, can be
 * set with the system properties {@code io.rdmacm.librdmacm}, {@code io.rdmacm.libibverbs},
 * {@code io.rdmacm.libmlx5} and {@code io.rdmacm.libefa}.
 */
@SuppressWarnings("restricted")
public enum NativeLibrary {
    /** Connection management: the functions whose names start with {@code rdma_}, and those of {@code rsocket.h}. */
    LIBRDMACM("librdmacm.so.1", "io.rdmacm.librdmacm", "librdmacm1"),
    /** Verbs: all other functions. */
    LIBIBVERBS("libibverbs.so.1", "io.rdmacm.libibverbs", "libibverbs1"),
    /** The direct verbs of mlx5: {@code mlx5dv.h}. */
    LIBMLX5("libmlx5.so.1", "io.rdmacm.libmlx5", "ibverbs-providers"),
    /** The direct verbs of EFA: {@code efadv.h}. */
    LIBEFA("libefa.so.1", "io.rdmacm.libefa", "ibverbs-providers");

    private final String soname;
    private final String property;
    private final String debianPackage;
    private volatile SymbolLookup symbols;

    NativeLibrary(String soname, String property, String debianPackage) {
        this.soname = soname;
        this.property = property;
        this.debianPackage = debianPackage;
    }

    /**
     * Returns the library that a function belongs to.
     *
     * @param function the C name of an exported function
     * @return librdmacm for the functions of {@code rdma_cma.h}, {@code rdma_verbs.h} and {@code rsocket.h}, libmlx5
     *     for those of {@code mlx5dv.h}, libefa for those of {@code efadv.h}, otherwise libibverbs
     */
    public static NativeLibrary of(String function) {
        if (function.startsWith("mlx5dv_") || function.startsWith("_mlx5dv_") || function.startsWith("__mlx5dv_")) {
            return LIBMLX5;
        }
        if (function.startsWith("efadv_")) {
            return LIBEFA;
        }
        // rdma_connect, rconnect, repoll_create: no function of libibverbs starts with an r.
        return function.startsWith("r") ? LIBRDMACM : LIBIBVERBS;
    }

    /**
     * Returns which release a function came with, if it is younger than rdma-core 44, the oldest one supported. Such a
     * function is optional: the installed library may be without it.
     *
     * @param function the C name of an exported function
     * @return the release and the symbol version, for messages; empty for a function that rdma-core 44 has
     */
    public static Optional<String> since(String function) {
        return NewerFunctions.since(function);
    }

    /**
     * Returns the release of rdma-core that the library is of. Its file name tells: libibverbs.so.1.14.44.0 is of
     * rdma-core 44.0.
     *
     * @return such as "44.0"; empty if the library has not been opened, or its file has another name
     */
    public Optional<String> release() {
        // The names of mapped files are those that symbolic links lead to.
        Pattern file = Pattern.compile("/" + Pattern.quote(name().toLowerCase(Locale.ROOT))
                + "\\.so\\.\\d+\\.\\d+\\.(\\d+\\.\\d+)$", Pattern.MULTILINE);
        try {
            return file.matcher(Files.readString(Path.of("/proc/self/maps"))).results().map(found -> found.group(1))
                    .findFirst();
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** {@return the soname or path by which the library is opened} */
    public String soname() {
        return System.getProperty(property, soname);
    }

    /** {@return the name of the Debian package that contains the library} */
    public String debianPackage() {
        return debianPackage;
    }

    /**
     * Looks up a symbol, after opening the library if necessary.
     *
     * @param symbol the C name
     * @return the address; empty if the installed library does not have the symbol
     * @throws UnsatisfiedLinkError if the library cannot be opened
     */
    public Optional<MemorySegment> find(String symbol) {
        SymbolLookup opened = symbols;
        if (opened == null) {
            // Two threads may get here at the same time, and both open the library, which does no harm.
            opened = open(symbol);
            symbols = opened;
        }
        return opened.find(symbol);
    }

    private SymbolLookup open(String symbol) {
        try {
            return SymbolLookup.libraryLookup(soname(), Arena.global());
        } catch (IllegalArgumentException e) {
            UnsatisfiedLinkError error = new UnsatisfiedLinkError("Cannot open " + soname() + ", needed for " + symbol
                    + ": install the package " + debianPackage + " (its name in Debian), or set the system property "
                    + property + " to the path of the library");
            error.initCause(e);
            throw error;
        }
    }

    /**
     * Returns the address of an exported function.
     *
     * @param function its C name
     * @return the address
     * @throws UnsatisfiedLinkError if the library cannot be opened or does not have the function
     */
    public static MemorySegment addressOf(String function) {
        NativeLibrary library = of(function);
        return library.find(function).orElseThrow(() -> new UnsatisfiedLinkError(library.soname() + " has no "
                + function + ": it is "
                + library.release().map(release -> "of rdma-core " + release + ", ").orElse("") + "older than "
                + since(function).orElse("this binding") + ", so install a newer " + library.debianPackage
                + " (its name in Debian)"));
    }

    /**
     * Returns the handle of an exported function. If there is no such function, returns a handle that throws the reason
     * on each call: a failing static initialiser would report it only once, and throw NoClassDefFoundError afterwards.
     *
     * @param function its C name
     * @param descriptor its type
     * @param options options of the linker
     * @return the handle
     */
    public static MethodHandle downcall(String function, FunctionDescriptor descriptor, Linker.Option... options) {
        try {
            return Linker.nativeLinker().downcallHandle(addressOf(function), descriptor, options);
        } catch (UnsatisfiedLinkError | IllegalCallerException reason) {
            return throwing(reason, descriptor.toMethodType());
        }
    }

    /**
     * Returns the handle of a function pointer, which is passed as the first argument.
     *
     * @param descriptor the type of the function
     * @return the handle
     */
    public static MethodHandle downcall(FunctionDescriptor descriptor) {
        try {
            return Linker.nativeLinker().downcallHandle(descriptor);
        } catch (IllegalCallerException reason) {
            return throwing(reason, descriptor.toMethodType().insertParameterTypes(0, MemorySegment.class));
        }
    }

    /**
     * Returns the layout of a pointer. Without native access it has no target layout: nothing can be read through such
     * a pointer, but the layouts of structs with pointers can still be initialised.
     *
     * @param target the layout of what the pointer points to
     * @return the layout of the pointer
     */
    public static AddressLayout pointerTo(MemoryLayout target) {
        AddressLayout pointer = (AddressLayout) Linker.nativeLinker().canonicalLayouts().get("void*");
        try {
            return pointer.withTargetLayout(target);
        } catch (IllegalCallerException e) {
            return pointer;
        }
    }

    private static MethodHandle throwing(Throwable reason, MethodType type) {
        MethodHandle thrower = MethodHandles.throwException(type.returnType(), Throwable.class).bindTo(reason);
        return MethodHandles.dropArguments(thrower, 0, type.parameterList());
    }
}
