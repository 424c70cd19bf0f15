// SPDX-License-Identifier: Apache-2.0
/** Races of a close with everything else, over the stand-ins, in JVMs of their own: fresh objects each time. */
package io.rdmacm.verbs.races;
