// SPDX-License-Identifier: Apache-2.0
/** The machine: its RDMA port, its CPUs, and the programs that are compiled and run on it. */
package io.rdmacm.bench.device.machine;
