// SPDX-License-Identifier: Apache-2.0
/**
 * The soak, run by {@code scripts/soak}: connections come and go for minutes or by the hundred thousand, all kinds of
 * operations, with faults among them; all data is checked, and in the end nothing may be left. It is one of the tests,
 * and not one of the programs, because it counts what the library keeps inside, and nobody has to ship it.
 */
package io.rdmacm.examples.soak;
