// SPDX-License-Identifier: Apache-2.0

/** What the programs share: little, so that each can be read by itself. */
package io.rdmacm.examples.support;
