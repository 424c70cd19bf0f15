// SPDX-License-Identifier: Apache-2.0
/* What jextract reads for io.rdmacm.bindings.efa: the direct verbs of EFA. */
#include "rdmacm.h"

#include <infiniband/efadv.h>
