// SPDX-License-Identifier: Apache-2.0
/** Benchmarks that need an RDMA device, each beside the C program that measures the same. */
package io.rdmacm.bench.device;
