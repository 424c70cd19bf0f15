// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.coverage;

import java.util.List;
import java.util.Optional;

/** The functions of the direct verbs that no class offers, and why. The bindings have all that are exported. */
enum LeftOut {
    STEERING("flow steering (DR): tables of the embedded switch, whose rules are those of a network stack; the verbs"
            + " for flows are in `io.rdmacm.verbs.flow`", "mlx5dv_(dump_)?dr_.*", "mlx5dv_(create|destroy)_flow.*",
            "mlx5dv_(create|destroy)_steering_anchor"),
    VFIO("VFIO: the process drives the device without a kernel driver", "mlx5dv_.*vfio.*"),
    SCHEDULING("bandwidth of virtual ports: the business of a network stack", "mlx5dv_sched_.*",
            "mlx5dv_modify_qp_sched_elem", "mlx5dv_pp_.*"),
    VIRTIO("doorbells of virtio devices", "mlx5dv_.*_?var.*", "mlx5dv_(alloc|free)_var"),
    SHARING("objects of commands that several processes share", "mlx5dv_devx_.*(export|import|unimport).*",
            "mlx5dv_get_export_sizes"),
    COMMANDS("commands about objects of verbs: `Mlx5Device.command` names the objects by their numbers",
            "mlx5dv_devx_(cq|qp|srq|wq|ind_tbl)_.*"),
    EVENTS("asynchronous commands, events and event queues: the program waits in C for them",
            "mlx5dv_devx_.*(cmd_comp|async|event|msi_vector|_eq).*"),
    ENTRIES("helpers that set or read a member of an entry: `RawEntry` forms entries, and a program reads"
            + " `RawQueues` as memory", "mlx5dv_(x86_)?set_.*_seg", "mlx5dv_[sg]et_cqe_.*"),
    ALLOCATORS("memory of queues by functions of the program, which C calls: parent domains have the same",
            "mlx5dv_set_context_attr"),
    STRIDES("receive queues whose entries are cut into strides: libmlx5 creates them, but neither posts to them nor"
            + " polls them; a program would write their entries itself", "mlx5dv_create_wq"),
    KINDS("kinds of memory, and numbers of queue pairs kept for other protocols: not done yet", "mlx5dv_alloc_dm",
            "mlx5dv_dm_map_op_addr", "mlx5dv_reg_dmabuf_mr", "mlx5dv_get_data_direct_sysfs_path",
            "mlx5dv_devx_umem_reg_ex", "mlx5dv_reserved_qpn_.*"),
    EFA_COUNTERS("completion counters in memory of the program: those of verbs are in `io.rdmacm.verbs.counter`",
            "efadv_create_comp_cntr"),
    EFA_HINTS("hints for single requests", "efadv_qp_from_ibv_qp_ex", "efadv_wr_set_processing_hints");

    private final String reason;
    private final List<String> functions;

    LeftOut(String reason, String... functions) {
        this.reason = reason;
        this.functions = List.of(functions);
    }

    /** Returns why a function is left out; empty if it is not. */
    static Optional<String> reason(String function) {
        for (LeftOut group : values()) {
            if (group.functions.stream().anyMatch(function::matches)) {
                return Optional.of(group.reason);
            }
        }
        return Optional.empty();
    }
}
