// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.twohosts;

/** What the other host does for a test. It has a constructor without parameters. */
@FunctionalInterface
interface Role {
    /** Plays it to its end, in a thread of its own; the line is closed afterwards. */
    void play(Line line, String... arguments) throws Exception;
}
