// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

/** Stands in for the class of this name, in plain Java. */
public abstract class NativeObject {
    public abstract void close();
}
