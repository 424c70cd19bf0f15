// SPDX-License-Identifier: Apache-2.0
/** Every public method with every kind of wrong argument, over the stand-ins. */
package io.rdmacm.verbs.fuzz;
