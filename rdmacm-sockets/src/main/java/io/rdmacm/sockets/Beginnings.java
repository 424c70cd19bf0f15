// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.MethodModel;
import java.lang.classfile.MethodTransform;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.security.ProtectionDomain;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/** Gives methods of the JDK another beginning. */
final class Beginnings implements ClassFileTransformer {
    // The code of each class by the names of the methods that it comes before.
    private final Map<Class<?>, Map<String, Consumer<CodeBuilder>>> changes;
    // Why those that are not changed are not. Other threads may be in here as well, to load classes.
    private final Map<Class<?>, String> unchanged = new ConcurrentHashMap<>();

    private Beginnings(Map<Class<?>, Map<String, Consumer<CodeBuilder>>> changes) {
        this.changes = changes;
        changes.keySet().forEach(type -> unchanged.put(type, "the JVM does not ask"));
    }

    /**
     * Changes classes that are loaded.
     *
     * @param changes the code of each class by the names of the methods that it comes before
     * @throws IllegalStateException if a class lacks one of its methods; it is left as it is
     */
    static void install(Instrumentation instrumentation, Map<Class<?>, Map<String, Consumer<CodeBuilder>>> changes)
            throws UnmodifiableClassException {
        Beginnings beginnings = new Beginnings(changes);
        instrumentation.addTransformer(beginnings, true);
        try {
            instrumentation.retransformClasses(changes.keySet().toArray(Class<?>[]::new));
        } finally {
            // It would be asked about each class that is loaded from now on.
            boolean ignored = instrumentation.removeTransformer(beginnings);
        }
        if (!beginnings.unchanged.isEmpty()) {
            throw new IllegalStateException("cannot change " + beginnings.unchanged);
        }
    }

    @Override
    public byte @Nullable [] transform(@Nullable Module module, @Nullable ClassLoader loader, String name,
            @Nullable Class<?> redefined, @Nullable ProtectionDomain domain, byte[] bytes) {
        Map<String, Consumer<CodeBuilder>> methods = redefined == null ? null : changes.get(redefined);
        if (methods == null) {
            return null;
        }
        try {
            byte[] changed = change(bytes, methods);
            unchanged.remove(redefined);
            return changed;
        } catch (RuntimeException | LinkageError e) {
            // The JVM tells nobody.
            unchanged.put(redefined, e.toString());
            return null;
        }
    }

    private static byte[] change(byte[] bytes, Map<String, Consumer<CodeBuilder>> methods) {
        Set<String> missing = new HashSet<>(methods.keySet());
        ClassFile file = ClassFile.of();
        byte[] changed = file.transformClass(file.parse(bytes), (code, element) -> {
            if (element instanceof MethodModel method) {
                String name = method.methodName().stringValue();
                Consumer<CodeBuilder> beginning = methods.get(name);
                if (beginning != null) {
                    code.transformMethod(method, MethodTransform.transformingCode(new Beginning(begun -> {
                        missing.remove(name);
                        beginning.accept(begun);
                    })));
                    return;
                }
            }
            code.with(element);
        });
        if (!missing.isEmpty()) {
            throw new IllegalStateException("no method " + String.join(", ", missing));
        }
        return changed;
    }

    private record Beginning(Consumer<CodeBuilder> beginning) implements CodeTransform {
        @Override
        public void atStart(CodeBuilder code) {
            beginning.accept(code);
        }

        @Override
        public void accept(CodeBuilder code, CodeElement element) {
            code.with(element);
        }
    }
}
