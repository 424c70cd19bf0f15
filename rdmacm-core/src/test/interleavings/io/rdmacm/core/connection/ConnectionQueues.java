// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import io.rdmacm.core.internal.engine.Loop;

/** Stands in for the class of this name, in plain Java. */
record ConnectionQueues(Loop loop, SendRing ring) {
}
