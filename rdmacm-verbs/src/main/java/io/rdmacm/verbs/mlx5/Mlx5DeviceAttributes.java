// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import java.lang.foreign.MemorySegment;
import java.time.Duration;

import io.rdmacm.bindings.mlx5.mlx5dv_context;
import io.rdmacm.bindings.mlx5.mlx5dv_cqe_comp_caps;
import io.rdmacm.bindings.mlx5.mlx5dv_crypto_caps;
import io.rdmacm.bindings.mlx5.mlx5dv_dci_streams_caps;
import io.rdmacm.bindings.mlx5.mlx5dv_sig_caps;
import io.rdmacm.verbs.internal.ffi.Memory;

/**
 * What an mlx5 device can do ({@code struct mlx5dv_context}, mlx5dv_query_device(3)). What the device lacks, or the
 * installed library does not know, is 0.
 */
public final class Mlx5DeviceAttributes {
    // a copy on the heap
    private final MemorySegment struct;

    private Mlx5DeviceAttributes(MemorySegment struct) {
        this.struct = struct;
    }

    /**
     * Returns what a {@code struct mlx5dv_context} says.
     *
     * @param struct is copied
     * @return the attributes
     */
    public static Mlx5DeviceAttributes of(MemorySegment struct) {
        return new Mlx5DeviceAttributes(Memory.heapCopy(struct, mlx5dv_context.sizeof()));
    }

    /** {@return the version of the format of completions} */
    public int version() {
        return Byte.toUnsignedInt(mlx5dv_context.version(struct));
    }

    /** {@return bits of {@code enum mlx5dv_context_flags}} */
    public long flags() {
        return mlx5dv_context.flags(struct);
    }

    /** {@return how many completions the device compresses into one} */
    public int maxCompressedCompletions() {
        return mlx5dv_cqe_comp_caps.max_num(mlx5dv_context.cqe_comp_caps(struct));
    }

    /** {@return bits of {@code enum mlx5dv_cqe_comp_res_format}} */
    public int compressionFormats() {
        return mlx5dv_cqe_comp_caps.supported_format(mlx5dv_context.cqe_comp_caps(struct));
    }

    /** {@return bits of {@code enum mlx5dv_tunnel_offloads}} */
    public int tunnelOffloads() {
        return mlx5dv_context.tunnel_offloads_caps(struct);
    }

    /** {@return how many doorbell registers a process can allocate} */
    public int maxDynamicRegisters() {
        return mlx5dv_context.max_dynamic_bfregs(struct);
    }

    /** {@return for how long a {@link Mlx5Clock} is right} */
    public Duration maxClockInfoUpdate() {
        return Duration.ofNanos(mlx5dv_context.max_clock_info_update_nsec(struct));
    }

    /** {@return what DC can do in memory that is not pinned, bits of {@code enum ibv_odp_transport_cap_bits}} */
    public int dcOnDemandPaging() {
        return mlx5dv_context.dc_odp_caps(struct);
    }

    /** {@return how many ports are bonded; 0 or 1 if none are} */
    public int lagPorts() {
        return Byte.toUnsignedInt(mlx5dv_context.num_lag_ports(struct));
    }

    /** {@return which signatures the device computes} */
    public Signature signature() {
        return Signature.of(mlx5dv_context.sig_caps(struct));
    }

    /** {@return the base-2 logarithm of how many streams of a DCI run concurrently} */
    public int maxLogStreams() {
        return Byte.toUnsignedInt(
                mlx5dv_dci_streams_caps.max_log_num_concurent(mlx5dv_context.dci_streams_caps(struct)));
    }

    /** {@return the base-2 logarithm of how many streams may fail before the DCI does} */
    public int maxLogErroredStreams() {
        return Byte.toUnsignedInt(
                mlx5dv_dci_streams_caps.max_log_num_errored(mlx5dv_context.dci_streams_caps(struct)));
    }

    /** {@return how many bytes {@link Mlx5Batch#copy} copies; 0 if it is not supported} */
    public long maxCopyLength() {
        return mlx5dv_context.max_wr_memcpy_length(struct);
    }

    /** {@return which encryption the device does} */
    public Crypto crypto() {
        return Crypto.of(mlx5dv_context.crypto_caps(struct));
    }

    /** {@return how many reads and atomics a DCT serves at a time} */
    public long maxDcReadAtomic() {
        return mlx5dv_context.max_dc_rd_atom(struct);
    }

    /** {@return how many reads and atomics a DCI starts at a time} */
    public long maxDcInitiatorReadAtomic() {
        return mlx5dv_context.max_dc_init_rd_atom(struct);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Mlx5DeviceAttributes that && struct.mismatch(that.struct) < 0;
    }

    @Override
    public int hashCode() {
        return toString().hashCode();
    }

    @Override
    public String toString() {
        return "Mlx5DeviceAttributes[version=" + version() + ", flags=0x" + Long.toHexString(flags())
                + ", maxCompressedCompletions=" + maxCompressedCompletions() + ", compressionFormats=0x"
                + Integer.toHexString(compressionFormats()) + ", tunnelOffloads=0x"
                + Integer.toHexString(tunnelOffloads()) + ", maxDynamicRegisters=" + maxDynamicRegisters()
                + ", maxClockInfoUpdate=" + maxClockInfoUpdate() + ", dcOnDemandPaging=0x"
                + Integer.toHexString(dcOnDemandPaging()) + ", lagPorts=" + lagPorts() + ", signature=" + signature()
                + ", maxLogStreams=" + maxLogStreams() + ", maxLogErroredStreams=" + maxLogErroredStreams()
                + ", maxCopyLength=" + maxCopyLength() + ", crypto=" + crypto() + ", maxDcReadAtomic="
                + maxDcReadAtomic() + ", maxDcInitiatorReadAtomic=" + maxDcInitiatorReadAtomic() + "]";
    }

    /**
     * Which signatures a device computes ({@code struct mlx5dv_sig_caps}).
     *
     * @param blockSizes bits of {@code enum mlx5dv_block_size_caps}
     * @param protections bits of {@code enum mlx5dv_sig_prot_caps}
     * @param t10DifGuards bits of {@code enum mlx5dv_sig_t10dif_bg_caps}
     * @param checksums bits of {@code enum mlx5dv_sig_crc_type_caps}
     */
    public record Signature(long blockSizes, int protections, int t10DifGuards, int checksums) {
        private static Signature of(MemorySegment struct) {
            return new Signature(mlx5dv_sig_caps.block_size(struct), mlx5dv_sig_caps.block_prot(struct),
                    Short.toUnsignedInt(mlx5dv_sig_caps.t10dif_bg(struct)),
                    Short.toUnsignedInt(mlx5dv_sig_caps.crc_type(struct)));
        }
    }

    /**
     * Which encryption a device does ({@code struct mlx5dv_crypto_caps}).
     *
     * @param failedSelfTests a code of the vendor's; 0 if all tests passed
     * @param engines bits of {@code enum mlx5dv_crypto_engines_caps}
     * @param wrappedImportMethods bits of {@code enum mlx5dv_crypto_wrapped_import_method_caps}
     * @param maxLogKeys the base-2 logarithm of how many keys the device holds
     * @param flags bits of {@code enum mlx5dv_crypto_caps_flags}
     */
    public record Crypto(int failedSelfTests, int engines, int wrappedImportMethods, int maxLogKeys, int flags) {
        private static Crypto of(MemorySegment struct) {
            return new Crypto(Short.toUnsignedInt(mlx5dv_crypto_caps.failed_selftests(struct)),
                    Byte.toUnsignedInt(mlx5dv_crypto_caps.crypto_engines(struct)),
                    Byte.toUnsignedInt(mlx5dv_crypto_caps.wrapped_import_method(struct)),
                    Byte.toUnsignedInt(mlx5dv_crypto_caps.log_max_num_deks(struct)),
                    mlx5dv_crypto_caps.flags(struct));
        }
    }
}
