// SPDX-License-Identifier: Apache-2.0

/**
 * One command that examines a machine: whether programs can use RDMA here, how fast it is, and what to do about what
 * is wrong.
 *
 * <h2>Read first</h2>
 * {@link io.rdmacm.examples.doctor.Doctor}, the program; all it finds are {@link io.rdmacm.examples.doctor.Findings}.
 *
 * <h2>What it stands on</h2>
 * The files of the kernel, which also tell what keeps the libraries from working; {@link io.rdmacm.verbs} for devices
 * and ports; {@link io.rdmacm.core.connection} for the loopback.
 */
package io.rdmacm.examples.doctor;
