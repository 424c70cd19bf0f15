// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeTransform;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.security.ProtectionDomain;
import java.util.Map;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/** Gives methods of the JDK another beginning. */
final class Beginnings implements ClassFileTransformer {
    private final Map<Class<?>, ClassTransform> changes;

    private Beginnings(Map<Class<?>, ClassTransform> changes) {
        this.changes = changes;
    }

    /** Returns the change of one method, before whose code comes other code. */
    static ClassTransform of(String method, Consumer<CodeBuilder> beginning) {
        return ClassTransform.transformingMethodBodies(found -> found.methodName().equalsString(method),
                new CodeTransform() {
                    @Override
                    public void atStart(CodeBuilder code) {
                        beginning.accept(code);
                    }

                    @Override
                    public void accept(CodeBuilder code, CodeElement element) {
                        code.with(element);
                    }
                });
    }

    /** Changes classes that are loaded. */
    static void install(Instrumentation instrumentation, Map<Class<?>, ClassTransform> changes)
            throws UnmodifiableClassException {
        Beginnings beginnings = new Beginnings(changes);
        instrumentation.addTransformer(beginnings, true);
        try {
            instrumentation.retransformClasses(changes.keySet().toArray(Class<?>[]::new));
        } finally {
            // It would be asked about each class that is loaded from now on.
            boolean ignored = instrumentation.removeTransformer(beginnings);
        }
    }

    @Override
    public byte @Nullable [] transform(@Nullable Module module, @Nullable ClassLoader loader, String name,
            @Nullable Class<?> redefined, @Nullable ProtectionDomain domain, byte[] bytes) {
        ClassTransform change = redefined == null ? null : changes.get(redefined);
        if (change == null) {
            return null;
        }
        ClassFile file = ClassFile.of();
        return file.transformClass(file.parse(bytes), change);
    }
}
