// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing.careless;

import java.lang.foreign.Arena;

import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.life.Lifetime;

/** An object with methods that {@link io.rdmacm.verbs.testing.UseAfterClose} must find fault with. */
public final class CarelessObject extends NativeObject {
    private CarelessObject() {
        super(Lifetime.begin(CarelessObject.class), Arena.ofAuto().allocate(8).address(), 8);
    }

    /** One that was closed. */
    public static CarelessObject closed() throws RdmaException {
        CarelessObject object = new CarelessObject();
        object.close();
        return object;
    }

    /** Looks whether it is open. */
    public void careful() {
        life().ensureOpen();
    }

    /** Does not look. */
    public void careless() {
        // that is the fault
    }

    /** Has a parameter that the test knows no value for. */
    public void needs(StringBuilder text) {
        text.append(handle());
    }

    @Override
    protected void destroy() {
        // there is nothing native
    }
}
