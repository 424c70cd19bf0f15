// SPDX-License-Identifier: Apache-2.0

/**
 * Other libraries to compare with. The project does not depend on them: the environment names their files, and the code
 * that uses them is a resource, which is compiled against them when it is needed.
 *
 * <p>{@link io.rdmacm.bench.thirdparty.NamedFiles} reads the variables, {@link io.rdmacm.bench.thirdparty.SourceLoader}
 * compiles and loads.
 */
package io.rdmacm.bench.thirdparty;
