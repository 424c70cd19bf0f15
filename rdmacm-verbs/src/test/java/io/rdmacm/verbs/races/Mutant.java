// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.races;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.Instruction;
import java.lang.classfile.Opcode;
import java.lang.classfile.instruction.BranchInstruction;
import java.lang.classfile.instruction.ConstantInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Predicate;

/** The library with a guard that is unsafe: made of its classes, for the races to show that they would catch it. */
public enum Mutant {
    /** The closer fences only itself: the mark of a thread that goes in may still be on its way to memory. */
    NO_MEMBARRIER("Membarrier") {
        @Override
        ClassTransform transform() {
            return replacing("heavy", code -> true, (builder, element) -> {
                if (element instanceof Instruction instruction && instruction.opcode() == Opcode.RETURN) {
                    return;
                }
                if (element instanceof InvokeInstruction call && call.name().equalsString("fullFence")) {
                    builder.invokestatic(ClassDesc.of("java.lang.invoke.VarHandle"), "fullFence", NOTHING)
                            .return_();
                }
            });
        }
    },
    /** A thread goes in without a mark. */
    NO_MARK("BiasedLock") {
        @Override
        ClassTransform transform() {
            return ClassTransform.transformingMethodBodies(method -> method.methodName().equalsString("mark"),
                    CodeTransform.ofStateful(Mutant::withoutFirstOne));
        }
    },
    /** A thread checks its bias only before it sets its mark, which here takes its time. */
    NO_SECOND_LOOK("BiasedLock") {
        @Override
        ClassTransform transform() {
            return ClassTransform.transformingMethodBodies(method -> method.methodName().equalsString("mark"),
                    CodeTransform.ofStateful(Mutant::exceptFirstComparison));
        }
    },
    /** The closer does not wait for those who are inside. */
    NO_WAIT("BiasedLock") {
        @Override
        ClassTransform transform() {
            return replacing("isOutside", element -> element instanceof BranchInstruction branch
                    && branch.opcode() == Opcode.IFNE, (builder, element) -> builder.pop());
        }
    },
    /** Who frees what several queues read looks at no queue. */
    NO_LOOK_AT_MARKS("BiasedLock") {
        @Override
        ClassTransform transform() {
            return replacing("isQuiescent", element -> element instanceof InvokeInstruction call
                    && call.name().equalsString("isOutside"), (builder, element) -> builder.pop().iconst_1());
        }
    },
    /** Who frees what several queues read looks at no queue that is protected by its lock. */
    NO_LOOK_AT_LOCK("BiasedLock") {
        @Override
        ClassTransform transform() {
            return replacing("isQuiescent", element -> element instanceof InvokeInstruction call
                    && call.name().equalsString("isLocked"), (builder, element) -> builder.pop().iconst_0());
        }
    },
    /** A close does not wait for those who are inside a method. */
    NO_USERS("Lifetime") {
        @Override
        ClassTransform transform() {
            return replacing("enter|leave", Mutant::isOne, (builder, element) -> builder.iconst_0());
        }
    };

    private static final MethodTypeDesc NOTHING = MethodTypeDesc.ofDescriptor("()V");
    private static final String PACKAGE = "io/rdmacm/verbs/internal/life/";

    private final String type;

    Mutant(String type) {
        this.type = type;
    }

    abstract ClassTransform transform();

    private static CodeTransform withoutFirstOne() {
        boolean[] seen = new boolean[1];
        return (builder, element) -> {
            if (!seen[0] && isOne(element)) {
                seen[0] = true;
                builder.iconst_0();
            } else {
                builder.with(element);
            }
        };
    }

    private static CodeTransform exceptFirstComparison() {
        boolean[] seen = new boolean[1];
        return (builder, element) -> {
            if (element instanceof BranchInstruction branch && branch.opcode() == Opcode.IF_ACMPNE && seen[0]) {
                builder.pop2();
            } else {
                builder.with(element);
                if (element instanceof BranchInstruction && !seen[0]) {
                    seen[0] = true;
                    builder.invokestatic(ClassDesc.of("java.lang.Thread"), "yield", NOTHING);
                }
            }
        };
    }

    private static boolean isOne(CodeElement element) {
        return element instanceof ConstantInstruction constant && constant.constantValue().equals(1);
    }

    private interface Replacement {
        void write(CodeBuilder builder, CodeElement element);
    }

    private static ClassTransform replacing(String methods, Predicate<CodeElement> which, Replacement replacement) {
        CodeTransform code = (builder, element) -> {
            if (which.test(element)) {
                replacement.write(builder, element);
            } else {
                builder.with(element);
            }
        };
        return ClassTransform.transformingMethodBodies(
                method -> method.methodName().stringValue().matches(methods), code);
    }

    /** Writes its class into a folder, which is to come first on a class path. */
    public void write(Path folder) throws IOException {
        String name = PACKAGE + type + ".class";
        try (InputStream original = Mutant.class.getResourceAsStream("/" + name)) {
            ClassFile format = ClassFile.of();
            ClassModel model = format.parse(original.readAllBytes());
            Path file = folder.resolve(name);
            Files.createDirectories(file.getParent());
            Files.write(file, format.transformClass(model, transform()));
        }
    }
}
