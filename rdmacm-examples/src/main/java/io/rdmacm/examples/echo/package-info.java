// SPDX-License-Identifier: Apache-2.0

/** An echo server and its client, over {@code io.rdmacm.core.connection}. */
package io.rdmacm.examples.echo;
