/**
 * Turns a Pod's constraints into cluster-wide sums. Pods of one template need the same, which the key of a sum expresses, so that it is
 * shared.
 */
import { RequiredNodes } from "../../../api/core/v1/node/node-selector.ts";
import { tolerates } from "../../../api/core/v1/pod/tolerations.ts";
import type { Pod, Taint, Toleration } from "../../../api/generated/core/v1.ts";
import type { LabelSelector } from "../../../api/machinery/selectors/label-selector.ts";
import type { NodeInfo } from "../../framework/node-info.ts";
import type { NodeSums } from "../../framework/node-sums.ts";
import type { PodInfo } from "../../framework/pod-info.ts";
import type { Snapshot } from "../../framework/snapshot.ts";
import { domainOf, hasAllKeys, type SpreadConstraint } from "./constraints.ts";
import { Domains } from "./domains.ts";
import { PodsByNode } from "./pods-by-node.ts";

/** The domains of the eligible nodes for a constraint: those that the Pod may use, and that have all `needed` keys. */
export function domainsOf(
  sums: NodeSums<Domains>,
  pod: PodInfo,
  constraint: SpreadConstraint,
  { snapshot, needed }: { readonly snapshot: Snapshot; readonly needed: readonly SpreadConstraint[] },
): Domains {
  return sums.get(questionText(pod, constraint, needed), snapshot, () => {
    const counts = nodeInclusion(pod.pod, constraint);
    return new Domains({
      namespace: pod.namespace,
      selector: constraint.selector,
      domainOf: (node) => (hasAllKeys(node.labels, needed) && counts(node) ? domainOf(node.labels, constraint.topologyKey) : undefined),
    });
  });
}

/** The Pods of each node. Here every node counts. */
export function podsByNode(
  sums: NodeSums<PodsByNode>,
  { namespace }: PodInfo,
  { selector }: SpreadConstraint,
  snapshot: Snapshot,
): PodsByNode {
  return sums.get(`${namespace} ${selectorText(selector)}`, snapshot, () => new PodsByNode({ namespace, selector }));
}

function questionText({ namespace, pod }: PodInfo, constraint: SpreadConstraint, needed: readonly SpreadConstraint[]): string {
  const { topologyKey, selector, honorsNodeAffinity, honorsNodeTaints } = constraint;
  const keys = needed.map((other) => other.topologyKey).join(" ");
  const affinity = honorsNodeAffinity ? affinityText(pod) : "";
  const tolerations = honorsNodeTaints ? JSON.stringify(pod.spec?.tolerations ?? []) : "";
  return `${topologyKey} of ${keys} in ${namespace} ${selectorText(selector)} ${affinity} ${tolerations}`;
}

function affinityText({ spec }: Pod): string {
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required === undefined && spec?.nodeSelector === undefined ? "" : JSON.stringify([spec?.nodeSelector ?? {}, required ?? {}]);
}

/** Unlike toString it distinguishes "nothing" from "everything". */
function selectorText(selector: LabelSelector): string {
  return selector.isNothing ? "-" : selector.toString();
}

/** Whether a node is eligible for a constraint of this Pod. */
export function nodeInclusion(pod: Pod, constraint: SpreadConstraint): (node: NodeInfo) => boolean {
  const needed = constraint.honorsNodeAffinity && pod.spec !== undefined ? new RequiredNodes(pod.spec) : undefined;
  const tolerations = constraint.honorsNodeTaints ? (pod.spec?.tolerations ?? []) : undefined;
  return ({ node }) => {
    if (needed !== undefined && !needed.matches(node)) return false;
    return tolerations === undefined || (node.spec?.taints ?? []).every((taint) => isTolerated(taint, tolerations));
  };
}

function isTolerated(taint: Taint, tolerations: readonly Toleration[]): boolean {
  if (taint.effect !== "NoSchedule" && taint.effect !== "NoExecute") return true;
  return tolerations.some((toleration) => tolerates(toleration, taint));
}
