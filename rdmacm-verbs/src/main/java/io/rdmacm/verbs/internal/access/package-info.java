// SPDX-License-Identifier: Apache-2.0

/**
 * What io.rdmacm.core and the packages above the objects need of them and programs must not have: lifetimes and
 * addresses. This package and {@link io.rdmacm.verbs} know each other; it is the only such pair, as the test
 * PackageGraphTest says. Exported to io.rdmacm.core only.
 *
 * <h2>Read first</h2>
 * {@link io.rdmacm.verbs.internal.access.VerbsAccess}; there is nothing else.
 */
package io.rdmacm.verbs.internal.access;
