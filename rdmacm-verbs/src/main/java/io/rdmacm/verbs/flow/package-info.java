// SPDX-License-Identifier: Apache-2.0

/**
 * Flow steering: rules for which packets a queue pair receives, and what else the device does with them.
 *
 * <h2>What lives here</h2>
 * The objects {@link io.rdmacm.verbs.flow.Flow}, {@link io.rdmacm.verbs.flow.FlowAction} and
 * {@link io.rdmacm.verbs.flow.Counters}, and the values that describe a rule: a match for each protocol header, and the
 * actions. Only devices with the capability MANAGED_FLOW_STEERING support flow steering; SoftRoCE does not.
 *
 * <h2>Read first</h2>
 * {@link io.rdmacm.verbs.flow.Flow}, {@link io.rdmacm.verbs.flow.FlowAttributes} (the rule),
 * {@link io.rdmacm.verbs.flow.FlowMatch} (a header that packets must have).
 *
 * <h2>What it stands on</h2>
 * {@link io.rdmacm.verbs}: a flow belongs to a queue pair, flow actions and counters to a context.
 */
package io.rdmacm.verbs.flow;
