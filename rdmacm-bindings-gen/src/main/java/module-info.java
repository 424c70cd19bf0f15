// SPDX-License-Identifier: Apache-2.0
/** The C API of librdmacm and libibverbs, generated from its headers. */
module io.rdmacm.bindings {
    exports io.rdmacm.bindings;
}
