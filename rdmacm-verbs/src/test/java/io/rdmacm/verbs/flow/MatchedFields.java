// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** Lets tests of other packages see which members of which filters a rule sets. */
public final class MatchedFields {
    private MatchedFields() {
    }

    /** The members of all filters that none of the matches sets. */
    public static Set<? extends Enum<?>> missingIn(List<FlowMatch> matches) {
        Set<FlowField> missing = EnumSet.allOf(FlowField.class);
        matches.forEach(match -> missing.removeAll(match.fields().members().keySet()));
        return missing;
    }
}
