// SPDX-License-Identifier: Apache-2.0
/* What jextract reads for io.rdmacm.bindings.mlx5: the direct verbs of mlx5. */
#include "rdmacm.h"

#include <infiniband/mlx5dv.h>
