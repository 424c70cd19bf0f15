// SPDX-License-Identifier: Apache-2.0

/** Helpers that several programs share. There are few, so that each program can be read on its own. */
package io.rdmacm.examples.support;
