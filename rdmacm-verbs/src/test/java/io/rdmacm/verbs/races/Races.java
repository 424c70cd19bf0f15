// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.races;

import java.util.List;

import io.rdmacm.verbs.error.RdmaException;

/** Where races come from: named on the command line of {@link RunRaces}. */
public interface Races extends AutoCloseable {
    /** All of them; over objects that live until {@link #close()}. */
    List<Race<?>> all() throws Exception;

    /** What was done wrong so far with C objects; empty when nothing was. */
    String misuse();

    @Override
    void close() throws RdmaException;
}
