// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import io.rdmacm.bindings.mlx5.mlx5dv_context;
import io.rdmacm.bindings.mlx5.mlx5dv_cqe_comp_caps;
import io.rdmacm.bindings.mlx5.mlx5dv_crypto_caps;
import io.rdmacm.bindings.mlx5.mlx5dv_dci_streams_caps;
import io.rdmacm.bindings.mlx5.mlx5dv_sig_caps;
import io.rdmacm.verbs.internal.ffi.Memory;

/**
 * What an mlx5 device can do ({@code struct mlx5dv_context}, mlx5dv_query_device(3)). What the device lacks, or the
 * installed library does not know, is 0.
 *
 * @param version the version of the format of completions
 * @param flags bits of {@code enum mlx5dv_context_flags}
 * @param maxCompressedCompletions how many completions the device compresses into one
 * @param compressionFormats bits of {@code enum mlx5dv_cqe_comp_res_format}
 * @param tunnelOffloads bits of {@code enum mlx5dv_tunnel_offloads}
 * @param maxDynamicRegisters how many doorbell registers a process can allocate
 * @param maxClockInfoUpdateNanoseconds for how long a {@link Mlx5Clock} is right
 * @param dcOnDemandPaging what DC can do in memory that is not pinned, bits of {@code enum ibv_odp_transport_cap_bits}
 * @param lagPorts how many ports are bonded; 0 or 1 if none are
 * @param signature which signatures the device computes
 * @param maxLogStreams the base-2 logarithm of how many streams of a DCI run concurrently
 * @param maxLogErroredStreams the base-2 logarithm of how many streams may fail before the DCI does
 * @param maxCopyLength how many bytes {@link Mlx5Batch#copy} copies; 0 if it is not supported
 * @param crypto which encryption the device does
 * @param maxDcReadAtomic how many reads and atomics a DCT serves at a time
 * @param maxDcInitiatorReadAtomic how many reads and atomics a DCI starts at a time
 */
public record Mlx5DeviceAttributes(int version, long flags, int maxCompressedCompletions, int compressionFormats,
        int tunnelOffloads, int maxDynamicRegisters, long maxClockInfoUpdateNanoseconds, int dcOnDemandPaging,
        int lagPorts, Signature signature, int maxLogStreams, int maxLogErroredStreams, long maxCopyLength,
        Crypto crypto, long maxDcReadAtomic, long maxDcInitiatorReadAtomic) {
    /**
     * Which signatures a device computes ({@code struct mlx5dv_sig_caps}).
     *
     * @param blockSizes bits of {@code enum mlx5dv_block_size_caps}
     * @param protections bits of {@code enum mlx5dv_sig_prot_caps}
     * @param t10DifGuards bits of {@code enum mlx5dv_sig_t10dif_bg_caps}
     * @param checksums bits of {@code enum mlx5dv_sig_crc_type_caps}
     */
    public record Signature(long blockSizes, int protections, int t10DifGuards, int checksums) {
        private static Signature read(long struct) {
            return new Signature(Memory.getLong(struct + mlx5dv_sig_caps.block_size$offset()),
                    Memory.getInt(struct + mlx5dv_sig_caps.block_prot$offset()),
                    Short.toUnsignedInt(Memory.getShort(struct + mlx5dv_sig_caps.t10dif_bg$offset())),
                    Short.toUnsignedInt(Memory.getShort(struct + mlx5dv_sig_caps.crc_type$offset())));
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
        private static Crypto read(long struct) {
            return new Crypto(Short.toUnsignedInt(Memory.getShort(struct
                            + mlx5dv_crypto_caps.failed_selftests$offset())),
                    unsignedByte(struct + mlx5dv_crypto_caps.crypto_engines$offset()),
                    unsignedByte(struct + mlx5dv_crypto_caps.wrapped_import_method$offset()),
                    unsignedByte(struct + mlx5dv_crypto_caps.log_max_num_deks$offset()),
                    Memory.getInt(struct + mlx5dv_crypto_caps.flags$offset()));
        }
    }

    static Mlx5DeviceAttributes read(long struct) {
        long compression = struct + mlx5dv_context.cqe_comp_caps$offset();
        long streams = struct + mlx5dv_context.dci_streams_caps$offset();
        return new Mlx5DeviceAttributes(unsignedByte(struct + mlx5dv_context.version$offset()),
                Memory.getLong(struct + mlx5dv_context.flags$offset()),
                Memory.getSize(compression + mlx5dv_cqe_comp_caps.max_num$offset()),
                Memory.getInt(compression + mlx5dv_cqe_comp_caps.supported_format$offset()),
                Memory.getInt(struct + mlx5dv_context.tunnel_offloads_caps$offset()),
                Memory.getSize(struct + mlx5dv_context.max_dynamic_bfregs$offset()),
                Memory.getLong(struct + mlx5dv_context.max_clock_info_update_nsec$offset()),
                Memory.getInt(struct + mlx5dv_context.dc_odp_caps$offset()),
                unsignedByte(struct + mlx5dv_context.num_lag_ports$offset()),
                Signature.read(struct + mlx5dv_context.sig_caps$offset()),
                unsignedByte(streams + mlx5dv_dci_streams_caps.max_log_num_concurent$offset()),
                unsignedByte(streams + mlx5dv_dci_streams_caps.max_log_num_errored$offset()),
                Memory.getLong(struct + mlx5dv_context.max_wr_memcpy_length$offset()),
                Crypto.read(struct + mlx5dv_context.crypto_caps$offset()),
                Memory.getLong(struct + mlx5dv_context.max_dc_rd_atom$offset()),
                Memory.getLong(struct + mlx5dv_context.max_dc_init_rd_atom$offset()));
    }

    private static int unsignedByte(long address) {
        return Byte.toUnsignedInt(Memory.getByte(address));
    }
}
