// SPDX-License-Identifier: Apache-2.0

/**
 * The programs of libibverbs: what devices there are, what happens to them, and the ping-pongs, whose queue pairs are
 * brought up by hand, without a connection manager.
 */
package io.rdmacm.examples.verbs;
