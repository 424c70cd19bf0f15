// SPDX-License-Identifier: Apache-2.0

/**
 * The programs of librdmacm that exercise the connection manager. Each works with its twin in C, with the same options,
 * output and messages; where a wait of C has no end, these take the option {@code --patience}.
 */
package io.rdmacm.examples.cm;
