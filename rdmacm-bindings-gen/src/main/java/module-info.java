// SPDX-License-Identifier: Apache-2.0
/** The C API of librdmacm and libibverbs, and the direct verbs of mlx5 and EFA, generated from their headers. */
module io.rdmacm.bindings {
    exports io.rdmacm.bindings;
    exports io.rdmacm.bindings.efa;
    exports io.rdmacm.bindings.mlx5;
}
