// SPDX-License-Identifier: Apache-2.0

/**
 * Access to lifetimes and addresses of the verbs objects, for io.rdmacm.core and the packages above the objects in this
 * module, but not for programs. This package and {@link io.rdmacm.verbs} depend on each other; it is the only such
 * pair, which PackageGraphTest enforces. Exported to io.rdmacm.core only.
 *
 * <h2>Read first</h2>
 * {@link io.rdmacm.verbs.internal.access.VerbsAccess}, the only class.
 */
package io.rdmacm.verbs.internal.access;
