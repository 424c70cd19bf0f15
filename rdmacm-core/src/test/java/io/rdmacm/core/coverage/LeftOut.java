// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.coverage;

import java.util.List;
import java.util.Optional;

/** The functions of the direct verbs that no class offers, and why. The bindings have all that are exported. */
enum LeftOut {
    STEERING("flow steering (DR), an interface of its own with 47 functions for the tables of the embedded"
            + " switch: not done; the verbs for flows are in `io.rdmacm.verbs.flow`", "mlx5dv_(dump_)?dr_.*",
            "mlx5dv_(create|destroy)_flow.*", "mlx5dv_(create|destroy)_steering_anchor"),
    VFIO("VFIO, where the process drives the device without a kernel driver: not done, and the stand-in of the tests"
            + " has no such device", "mlx5dv_.*vfio.*"),
    SCHEDULING("shares of bandwidth and pacing of queues: not done yet", "mlx5dv_sched_.*",
            "mlx5dv_modify_qp_sched_elem", "mlx5dv_pp_.*"),
    VIRTIO("doorbells of virtio devices, for programs that emulate such a device: not done", "mlx5dv_.*_?var.*",
            "mlx5dv_(alloc|free)_var"),
    SHARING("objects of commands that several processes share: not done yet",
            "mlx5dv_devx_.*(export|import|unimport).*", "mlx5dv_get_export_sizes"),
    COMMANDS("commands about objects of verbs: not done yet", "mlx5dv_devx_(cq|qp|srq|wq|ind_tbl)_.*"),
    EVENTS("asynchronous commands, events and event queues of commands: not done yet",
            "mlx5dv_devx_.*(cmd_comp|async|event|msi_vector|_eq).*"),
    ENTRIES("helpers that set or read a member of an entry and call nothing: `Wqe` forms entries, and a program"
            + " reads `RawQueues` as memory", "mlx5dv_(x86_)?set_.*_seg", "mlx5dv_[sg]et_cqe_.*"),
    ALLOCATORS("memory of queues from functions of the program, for all objects of a context: not done;"
            + " `ParentDomain` has it for the objects of a domain", "mlx5dv_set_context_attr"),
    STRIDES("receive queues whose entries are cut into strides: libmlx5 creates them, but neither posts to them nor"
            + " polls them; a program would write their entries itself", "mlx5dv_create_wq"),
    DATA_DIRECT("direct access to memory of another device, since later releases than rdma-core 44: not done yet;"
            + " `ProtectionDomain.registerDmaBuf` registers such memory the usual way", "mlx5dv_reg_dmabuf_mr",
            "mlx5dv_get_data_direct_sysfs_path"),
    EFA_COUNTERS("completion counters in memory of the program: not done; those of verbs are in"
            + " `io.rdmacm.verbs.counter`", "efadv_create_comp_cntr"),
    EFA_HINTS("hints for single requests: not done yet", "efadv_qp_from_ibv_qp_ex", "efadv_wr_set_processing_hints");

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
