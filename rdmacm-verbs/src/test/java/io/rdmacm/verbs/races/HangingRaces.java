// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.races;

import java.util.List;
import java.util.concurrent.CountDownLatch;

/** A race that never ends, for the watchdog to find. */
public final class HangingRaces implements Races {
    @Override
    public List<Race<?>> all() {
        CountDownLatch never = new CountDownLatch(1);
        return List.of(Race.of("waits for ever", Object::new).await(object -> never.await()).close(object -> { }));
    }

    @Override
    public String misuse() {
        return "";
    }

    @Override
    public void close() {
        // nothing was opened
    }
}
