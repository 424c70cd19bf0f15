// SPDX-License-Identifier: Apache-2.0

/**
 * The programs of librdmacm, written in Java with the same options: to be tried, and to be read. {@link
 * io.rdmacm.examples.Main} runs them by name.
 */
package io.rdmacm.examples;
