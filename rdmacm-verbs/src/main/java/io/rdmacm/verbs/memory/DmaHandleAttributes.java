// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.memory;

import java.lang.foreign.Arena;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_dmah_init_attr;
import io.rdmacm.verbs.internal.ffi.Arguments;
import io.rdmacm.verbs.internal.ffi.Memory;
import org.jspecify.annotations.Nullable;

/** The attributes of a {@link DmaHandle} ({@code struct ibv_dmah_init_attr}, ibv_alloc_dmah(3)). Immutable. */
public final class DmaHandleAttributes {
    private static final DmaHandleAttributes DEFAULTS = builder().build();

    private final OptionalInt cpu;
    private final OptionalInt processingHint;
    // null if it is not set
    private final @Nullable TphMemoryType memoryType;

    private DmaHandleAttributes(Builder builder) {
        this.cpu = builder.cpu;
        this.processingHint = builder.processingHint;
        this.memoryType = builder.memoryType;
    }

    /** {@return attributes of which none is set} */
    public static DmaHandleAttributes defaults() {
        return DEFAULTS;
    }

    /** {@return a builder; what is not set is left to the device} */
    public static Builder builder() {
        return new Builder();
    }

    /** {@return the CPU, if it is set} */
    public OptionalInt cpu() {
        return cpu;
    }

    /** {@return the processing hint, if it is set} */
    public OptionalInt processingHint() {
        return processingHint;
    }

    /** {@return the type of the memory, if it is set} */
    public Optional<TphMemoryType> memoryType() {
        return Optional.ofNullable(memoryType);
    }

    /** Writes a {@code struct ibv_dmah_init_attr} and returns its address. */
    long write(Arena arena) {
        long struct = arena.allocate(ibv_dmah_init_attr.layout()).address();
        int mask = 0;
        if (cpu.isPresent()) {
            mask |= Rdma.IBV_DMAH_INIT_ATTR_MASK_CPU_ID();
            Memory.putInt(struct + ibv_dmah_init_attr.cpu_id$offset(), cpu.getAsInt());
        }
        if (processingHint.isPresent()) {
            mask |= Rdma.IBV_DMAH_INIT_ATTR_MASK_PH();
            Memory.putByte(struct + ibv_dmah_init_attr.ph$offset(), (byte) processingHint.getAsInt());
        }
        if (memoryType != null) {
            mask |= Rdma.IBV_DMAH_INIT_ATTR_MASK_TPH_MEM_TYPE();
            Memory.putByte(struct + ibv_dmah_init_attr.tph_mem_type$offset(), (byte) memoryType.value());
        }
        Memory.putInt(struct + ibv_dmah_init_attr.comp_mask$offset(), mask);
        return struct;
    }

    /** Builds {@link DmaHandleAttributes}. */
    public static final class Builder {
        private OptionalInt cpu = OptionalInt.empty();
        private OptionalInt processingHint = OptionalInt.empty();
        private @Nullable TphMemoryType memoryType;

        private Builder() {
        }

        /**
         * Sets the CPU whose cache the device should write to ({@code IBV_DMAH_INIT_ATTR_MASK_CPU_ID}).
         *
         * @param id the id of the CPU, from 0
         * @return this builder
         * @throws IllegalArgumentException if the id is negative
         */
        public Builder cpu(int id) {
            if (id < 0) {
                throw new IllegalArgumentException("the id of a CPU must not be negative: " + id);
            }
            cpu = OptionalInt.of(id);
            return this;
        }

        /**
         * Sets the processing hint of PCIe ({@code IBV_DMAH_INIT_ATTR_MASK_PH}).
         *
         * @param hint the hint, 8 bits
         * @return this builder
         * @throws IllegalArgumentException if the hint does not fit into 8 bits
         */
        public Builder processingHint(int hint) {
            Arguments.requireBits("processing hint", hint, Byte.SIZE);
            processingHint = OptionalInt.of(hint);
            return this;
        }

        /**
         * Sets the type of the memory ({@code IBV_DMAH_INIT_ATTR_MASK_TPH_MEM_TYPE}).
         *
         * @param type the type
         * @return this builder
         */
        public Builder memoryType(TphMemoryType type) {
            memoryType = Objects.requireNonNull(type, "type");
            return this;
        }

        /** {@return the attributes} */
        public DmaHandleAttributes build() {
            return new DmaHandleAttributes(this);
        }
    }
}
