// SPDX-License-Identifier: Apache-2.0

/**
 * The programs of the RDMA Aware Networks Programming User Manual: what its chapters 7 and 8 show in C, written anew
 * for Java. Each is one command, and its class tells the story from top to bottom.
 */
package io.rdmacm.examples.manual;
