// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.ffi;

import java.util.Map;

/**
 * What C has reported, by attribute. Programs cannot create one, so what takes it is for this library only.
 *
 * @param <A> the attributes
 * @param values each of the type that the accessor of its attribute returns
 */
public record Reported<A extends Enum<A>>(Map<A, Object> values) {
}
