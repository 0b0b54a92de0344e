/**
 * The plugins of the default profile, as upstream 1.36. The order is the call order at every point: a node that several would reject is
 * rejected with the message of the first.
 */
import type { PluginFactory } from "../framework/plugin.ts";
import { defaultBinder } from "./default-binder/default-binder.ts";
import { defaultPreemption } from "./default-preemption/default-preemption.ts";
import { dynamicResources } from "./dynamic-resources/dynamic-resources.ts";
import { imageLocality } from "./image-locality/image-locality.ts";
import { interPodAffinity } from "./inter-pod-affinity/inter-pod-affinity.ts";
import { nodeAffinity } from "./node-affinity/node-affinity.ts";
import { nodeDeclaredFeatures } from "./node-declared-features/node-declared-features.ts";
import { nodeName } from "./node-name/node-name.ts";
import { nodePorts } from "./node-ports/node-ports.ts";
import { nodeResourcesBalancedAllocation } from "./node-resources-balanced-allocation/node-resources-balanced-allocation.ts";
import { nodeResourcesFit } from "./node-resources-fit/node-resources-fit.ts";
import { nodeUnschedulable } from "./node-unschedulable/node-unschedulable.ts";
import { nodeVolumeLimits } from "./node-volume-limits/node-volume-limits.ts";
import { podTopologySpread } from "./pod-topology-spread/pod-topology-spread.ts";
import { prioritySort } from "./priority-sort/priority-sort.ts";
import { schedulingGates } from "./scheduling-gates/scheduling-gates.ts";
import { taintToleration } from "./taint-toleration/taint-toleration.ts";
import { volumeBinding } from "./volume-binding/volume-binding.ts";
import { volumeRestrictions } from "./volume-restrictions/volume-restrictions.ts";
import { volumeZone } from "./volume-zone/volume-zone.ts";

export interface DefaultPlugin {
  // oxlint-disable-next-line typescript/no-explicit-any -- each plugin's arguments are its own business.
  readonly factory: PluginFactory<any>;
  /** Score weight; absent if it does not score. */
  readonly weight?: number;
}

export const all: readonly DefaultPlugin[] = [
  { factory: schedulingGates },
  { factory: prioritySort },
  { factory: nodeUnschedulable },
  { factory: nodeName },
  // An administrator's rules weigh more than even spreading.
  { factory: taintToleration, weight: 3 },
  { factory: nodeAffinity, weight: 2 },
  { factory: nodePorts },
  { factory: nodeResourcesFit, weight: 1 },
  { factory: volumeRestrictions },
  { factory: nodeVolumeLimits },
  { factory: volumeBinding },
  { factory: volumeZone },
  { factory: podTopologySpread, weight: 2 },
  { factory: interPodAffinity, weight: 2 },
  // Before DefaultPreemption: deallocating an unused claim disturbs less than evicting Pods.
  { factory: dynamicResources, weight: 2 },
  { factory: defaultPreemption },
  { factory: nodeResourcesBalancedAllocation, weight: 1 },
  { factory: imageLocality, weight: 1 },
  { factory: defaultBinder },
  { factory: nodeDeclaredFeatures },
];
