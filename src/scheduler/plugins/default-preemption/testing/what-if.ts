/**
 * An unsuccessful cycle for tests of preemption: one filter, which counts CPU and Pods like the real one and rejects cordoned nodes
 * unresolvably. `FilterStates` records its updates, and fails if a Pod is added twice or removed without being present.
 */
import { assert } from "../../../../base/assert.ts";
import type { NodeInfo } from "../../../framework/node-info.ts";
import type { FilterStates, Rejection, WhatIf } from "../../../framework/plugin.ts";
import type { PodInfo } from "../../../framework/pod-info.ts";
import { snapshotOf } from "../../../framework/testing/builders.ts";

const FULL: Rejection = { reasons: ["Insufficient cpu"], resolvable: true };
const CORDONED: Rejection = { reasons: ["node(s) were unschedulable"], resolvable: false };

export function refusalOf(pod: PodInfo, { node, requested, allocatable, pods, allowedPods }: NodeInfo): Rejection | undefined {
  if (node.spec?.unschedulable === true) return CORDONED;
  const isFull = pods.length >= allowedPods || requested.milliCpu + pod.requests.milliCpu > allocatable.milliCpu;
  return isFull ? FULL : undefined;
}

export interface TestWhatIf extends WhatIf {
  /** Number of filter calls. */
  readonly asked: () => number;
}

export function whatIfOf(pod: PodInfo, ...nodes: readonly NodeInfo[]): TestWhatIf {
  const rejections = new Map<string, Rejection>();
  for (const node of nodes) {
    const rejection = refusalOf(pod, node);
    if (rejection !== undefined) rejections.set(node.name, rejection);
  }
  const base = new States(new Set(nodes.flatMap(({ pods }) => pods)));
  let asked = 0;
  return {
    snapshot: snapshotOf(...nodes),
    rejections,
    resolvableNodes: nodes.filter(({ name }) => rejections.get(name)?.resolvable),
    base: () => base,
    filter(states, node) {
      asked++;
      assert(states instanceof States && states !== base, "the states of the cluster as it is are not changed");
      assert(
        node.pods.every((other) => states.pods.has(other)),
        "the states know of all Pods of the node",
      );
      const elsewhere = nodes.flatMap(({ name, pods }) => (name === node.name ? [] : pods)).length;
      assert(states.pods.size === elsewhere + node.pods.length, "the states know of no other Pods");
      return refusalOf(pod, node);
    },
    asked: () => asked,
  };
}

class States implements FilterStates {
  readonly pods: Set<PodInfo>;

  constructor(pods: ReadonlySet<PodInfo>) {
    this.pods = new Set(pods);
  }

  copy(): States {
    return new States(this.pods);
  }

  podRemoved(removed: PodInfo): void {
    assert(this.pods.delete(removed), "a Pod that goes was there");
  }

  podAdded(added: PodInfo): void {
    assert(!this.pods.has(added), "a Pod that comes was not there");
    this.pods.add(added);
  }
}
