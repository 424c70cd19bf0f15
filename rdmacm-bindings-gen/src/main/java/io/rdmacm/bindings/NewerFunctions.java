// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bindings;

import java.util.Optional;

/** The exported functions that came after rdma-core 44, the oldest release supported. */
final class NewerFunctions {
    private NewerFunctions() {
    }

    /** Returns the release and the symbol version that a function came with; empty for one that rdma-core 44 has. */
    static Optional<String> since(String function) {
        return Optional.ofNullable(switch (function) {
            // exported for the providers, declared for all
            case "ibv_wr_opcode_str" -> "rdma-core 49";
            case "ibv_alloc_dmah", "ibv_dealloc_dmah", "ibv_reg_mr_ex" -> "rdma-core 59 (symbol version IBVERBS_1.15)";
            case "rdma_resolve_addrinfo", "rdma_query_addrinfo", "rdma_write_cm_event" ->
                    "rdma-core 60 (symbol version RDMACM_1.4)";
            case "ibv_query_port_speed", "ibv_dm_export_dmabuf_fd" -> "rdma-core 62 (symbol version IBVERBS_1.16)";
            case "ibv_alloc_buf", "ibv_free_buf", "ibv_reg_buf_mr" -> "rdma-core 64 (symbol version IBVERBS_1.17)";
            case "_ibv_query_comp_cntr_caps", "ibv_create_comp_cntr", "ibv_destroy_comp_cntr", "ibv_set_comp_cntr",
                    "ibv_set_err_comp_cntr", "ibv_inc_comp_cntr", "ibv_inc_err_comp_cntr", "ibv_read_comp_cntr",
                    "ibv_read_err_comp_cntr", "ibv_qp_attach_comp_cntr", "ibv_export_buf_dmabuf_fd" ->
                    "rdma-core 65 (symbol version IBVERBS_1.18)";
            case "repoll_create", "repoll_ctl", "repoll_wait" -> "rdma-core 65 (symbol version RDMACM_1.5)";
            case "mlx5dv_reg_dmabuf_mr", "mlx5dv_get_data_direct_sysfs_path" ->
                    "rdma-core 54 (symbol version MLX5_1.25)";
            case "mlx5dv_devx_uar_export_dmabuf_fd" -> "rdma-core 62 (symbol version MLX5_1.26)";
            case "__mlx5dv_create_flow" -> "rdma-core 63 (symbol version MLX5_1.25.1)";
            case "_mlx5dv_get_export_sizes", "mlx5dv_devx_obj_export", "mlx5dv_devx_obj_import",
                    "mlx5dv_devx_obj_unimport", "mlx5dv_devx_umem_export", "mlx5dv_devx_umem_import",
                    "mlx5dv_devx_umem_unimport", "mlx5dv_var_export", "mlx5dv_var_import", "mlx5dv_var_unimport" ->
                    "rdma-core 63 (symbol version MLX5_1.27)";
            case "efadv_query_mr" -> "rdma-core 50 (symbol version EFA_1.3)";
            case "efadv_query_qp_wqs", "efadv_query_cq" -> "rdma-core 59 (symbol version EFA_1.4)";
            case "efadv_get_max_sq_depth", "efadv_get_max_rq_depth" -> "rdma-core 63 (symbol version EFA_1.5)";
            case "efadv_qp_from_ibv_qp_ex" -> "rdma-core 64 (symbol version EFA_1.6)";
            case "efadv_create_comp_cntr" -> "rdma-core 65 (symbol version EFA_1.7)";
            default -> null;
        });
    }
}
