/**
 * Which nodes a DaemonSet runs on: those that match the template's node selector and affinity and whose taints its Pods tolerate. Pods
 * tolerate the taints of node conditions by themselves, so that they run, and stay, on nodes with problems. Compiled once per template and
 * then evaluated for every node. Pure.
 */
import { RequiredNodes } from "../../api/core/v1/node/node-selector.ts";
import { isTolerated, untoleratedTaint } from "../../api/core/v1/pod/tolerations.ts";
import type { DaemonSet } from "../../api/generated/apps/v1.ts";
import type { Node, PodSpec, PodTemplateSpec, Toleration } from "../../api/generated/core/v1.ts";

/** "stays": no new Pod, but one that runs is not evicted, as the taint is NoSchedule only. */
export type Placement = "runs" | "stays" | "away";

export interface Placements {
  /** Hot path (called per node): must not allocate. */
  on(node: Node): Placement;
}

const compiled = new WeakMap<PodTemplateSpec, Placements>();

/** Cached while the template lives. */
export function placementsOf({ spec }: DaemonSet): Placements {
  if (spec === undefined) return NOWHERE;
  let found = compiled.get(spec.template);
  if (found === undefined) compiled.set(spec.template, (found = compile(spec.template.spec ?? { containers: [] })));
  return found;
}

const NOWHERE: Placements = { on: () => "away" };
const NO_TAINTS: readonly never[] = [];

function compile(spec: PodSpec): Placements {
  const required = new RequiredNodes(spec);
  const tolerations = withDaemonTolerations(spec).tolerations ?? [];
  const { nodeName = "" } = spec;
  return {
    on(node) {
      if (nodeName !== "" && nodeName !== node.metadata.name) return "away";
      if (!required.matches(node)) return "away";
      const taints = node.spec?.taints ?? NO_TAINTS;
      if (untoleratedTaint(taints, tolerations) === undefined) return "runs";
      for (const taint of taints) if (taint.effect === "NoExecute" && !isTolerated(taint, tolerations)) return "away";
      return "stays";
    },
  };
}

/** Taints of node conditions, and the effect that Pods of every DaemonSet tolerate without a time limit. */
const TOLERATED: readonly (readonly [key: string, effect: NonNullable<Toleration["effect"]>])[] = [
  ["node.kubernetes.io/not-ready", "NoExecute"],
  ["node.kubernetes.io/unreachable", "NoExecute"],
  ["node.kubernetes.io/disk-pressure", "NoSchedule"],
  ["node.kubernetes.io/memory-pressure", "NoSchedule"],
  ["node.kubernetes.io/pid-pressure", "NoSchedule"],
  ["node.kubernetes.io/unschedulable", "NoSchedule"],
];
/** Only for Pods on the host's network: others need the network that is missing. */
const NETWORK_UNAVAILABLE = ["node.kubernetes.io/network-unavailable", "NoSchedule"] as const;

/** The Pod spec with the tolerations that every Pod of a DaemonSet has. */
export function withDaemonTolerations(spec: PodSpec): PodSpec {
  const added = spec.hostNetwork === true ? [...TOLERATED, NETWORK_UNAVAILABLE] : TOLERATED;
  let tolerations = spec.tolerations ?? [];
  for (const [key, effect] of added) tolerations = withToleration(tolerations, { key, operator: "Exists", effect });
  return { ...spec, tolerations };
}

/** Replaces one of the same key, operator and effect, which may have a time limit. */
function withToleration(tolerations: readonly Toleration[], toleration: Toleration): readonly Toleration[] {
  const isSame = ({ key, operator, effect, value = "" }: Toleration): boolean =>
    key === toleration.key && operator === toleration.operator && effect === toleration.effect && value === "";
  return tolerations.some(isSame) ? tolerations.map((one) => (isSame(one) ? toleration : one)) : [...tolerations, toleration];
}
