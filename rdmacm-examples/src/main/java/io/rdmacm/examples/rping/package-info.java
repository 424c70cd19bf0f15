// SPDX-License-Identifier: Apache-2.0

/** rping(1): a client offers its memory, the server reads pings from it and writes them back. */
package io.rdmacm.examples.rping;
