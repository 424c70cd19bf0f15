// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ib_uverbs_flow_action_esp;
import io.rdmacm.bindings.ib_uverbs_flow_action_esp_encap;
import io.rdmacm.bindings.ib_uverbs_flow_action_esp_keymat_aes_gcm;
import io.rdmacm.bindings.ib_uverbs_flow_action_esp_replay_bmp;
import io.rdmacm.bindings.ibv_flow_action_esp_attr;
import io.rdmacm.verbs.internal.ffi.Flags;

/** Encodes the attributes of IPsec ESP flow actions: a struct with pointers to the optional parts. */
final class EspStructs {
    private EspStructs() {
    }

    /** Returns a new {@code struct ibv_flow_action_esp_attr}. */
    static MemorySegment write(EspAttributes attributes, Arena arena) {
        MemorySegment struct = ibv_flow_action_esp_attr.allocate(arena);
        attributes.parameters().ifPresent(
                parameters -> ibv_flow_action_esp_attr.esp_attr(struct, write(parameters, arena)));
        attributes.keyMaterial().ifPresent(material -> {
            MemorySegment key = write(material, arena);
            ibv_flow_action_esp_attr.keymat_proto(struct, Rdma.IBV_FLOW_ACTION_ESP_KEYMAT_AES_GCM());
            ibv_flow_action_esp_attr.keymat_len(struct, (short) key.byteSize());
            ibv_flow_action_esp_attr.keymat_ptr(struct, key);
        });
        attributes.replayWindow().ifPresent(size -> writeReplay(size, struct, arena));
        if (!attributes.encapsulation().isEmpty()) {
            ibv_flow_action_esp_attr.esp_encap(struct, write(attributes.encapsulation(), arena));
        }
        attributes.extendedSequence().ifPresent(number -> {
            ibv_flow_action_esp_attr.comp_mask(struct, Rdma.IBV_FLOW_ACTION_ESP_MASK_ESN());
            ibv_flow_action_esp_attr.esn(struct, number);
        });
        return struct;
    }

    private static MemorySegment write(EspParameters parameters, Arena arena) {
        MemorySegment struct = ib_uverbs_flow_action_esp.allocate(arena);
        ib_uverbs_flow_action_esp.spi(struct, parameters.securityParametersIndex());
        ib_uverbs_flow_action_esp.seq(struct, parameters.sequence());
        ib_uverbs_flow_action_esp.tfc_pad(struct, parameters.paddingLength());
        ib_uverbs_flow_action_esp.flags(struct, Flags.mask(parameters.flags(), EspFlag::bit));
        ib_uverbs_flow_action_esp.hard_limit_pkts(struct, parameters.hardLimitPackets());
        return struct;
    }

    private static MemorySegment write(EspKeyMaterial material, Arena arena) {
        MemorySegment struct = ib_uverbs_flow_action_esp_keymat_aes_gcm.allocate(arena);
        byte[] key = material.key();
        ib_uverbs_flow_action_esp_keymat_aes_gcm.iv(struct, material.initializationVector());
        ib_uverbs_flow_action_esp_keymat_aes_gcm.iv_algo(struct, Rdma.IBV_FLOW_ACTION_IV_ALGO_SEQ());
        ib_uverbs_flow_action_esp_keymat_aes_gcm.salt(struct, material.salt());
        ib_uverbs_flow_action_esp_keymat_aes_gcm.icv_len(struct, material.checkLength());
        ib_uverbs_flow_action_esp_keymat_aes_gcm.key_len(struct, key.length);
        MemorySegment.copy(key, 0, struct, ValueLayout.JAVA_BYTE,
                ib_uverbs_flow_action_esp_keymat_aes_gcm.aes_key$offset(), key.length);
        return struct;
    }

    /** A window of 0 needs no bitmap, but libibverbs passes the protocol on only if there is a pointer. */
    private static void writeReplay(int size, MemorySegment struct, Arena arena) {
        MemorySegment bitmap = ib_uverbs_flow_action_esp_replay_bmp.allocate(arena);
        ib_uverbs_flow_action_esp_replay_bmp.size(bitmap, size);
        ibv_flow_action_esp_attr.replay_proto(struct, size > 0 ? Rdma.IBV_FLOW_ACTION_ESP_REPLAY_BMP()
                : Rdma.IBV_FLOW_ACTION_ESP_REPLAY_NONE());
        ibv_flow_action_esp_attr.replay_len(struct, size > 0 ? (short) bitmap.byteSize() : 0);
        ibv_flow_action_esp_attr.replay_ptr(struct, bitmap);
    }

    /** Returns a linked list that starts with the outermost header. */
    private static MemorySegment write(List<FlowMatch> headers, Arena arena) {
        MemorySegment next = MemorySegment.NULL;
        for (FlowMatch header : headers.reversed()) {
            MemorySegment filter = arena.allocate(FlowStructs.filterSize(header), Long.BYTES);
            filter.copyFrom(MemorySegment.ofArray(header.values((int) filter.byteSize())));
            MemorySegment link = ib_uverbs_flow_action_esp_encap.allocate(arena);
            ib_uverbs_flow_action_esp_encap.val_ptr(link, filter);
            ib_uverbs_flow_action_esp_encap.next_ptr(link, next);
            ib_uverbs_flow_action_esp_encap.len(link, (short) filter.byteSize());
            ib_uverbs_flow_action_esp_encap.type(link, (short) FlowStructs.typeOf(header));
            next = link;
        }
        return next;
    }
}
