// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.ffi;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;

import org.junit.jupiter.api.Test;

class ErrnoTest {
    @Test
    void eachCallThatIsInCHasAPlaceOfItsOwn() {
        List<ErrnoPlace> places = new ArrayList<>();
        // more than there are at first
        for (int i = 0; i < 100; i++) {
            places.add(ErrnoPlace.take());
        }

        assertThat(new HashSet<>(places.stream().map(place -> place.memory().address()).toList())).hasSize(100);
        places.forEach(ErrnoPlace::giveBack);
        ErrnoPlace again = ErrnoPlace.take();
        again.giveBack();
        assertThat(places).contains(again);
    }
}
