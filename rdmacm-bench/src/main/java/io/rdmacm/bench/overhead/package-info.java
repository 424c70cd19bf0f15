// SPDX-License-Identifier: Apache-2.0

/** What a call costs over the same call in C, measured without a device: over a provider in C that has none. */
package io.rdmacm.bench.overhead;
