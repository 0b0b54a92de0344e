/**
 * When a Pod that was refused is worth trying again. Each rule says "yes" to everything that can turn a "no" of filtering.ts into a "yes".
 * That is a little more than upstream's, which makes some Pods wait for its five-minute flush: those refused by the anti-affinity of others
 * when a node comes, those with a namespace selector, and those whose group has lost its last Pod.
 */
import type { Namespace, Pod } from "../../../api/generated/core/v1.ts";
import { podInfoOf } from "../../framework/make-pod-info.ts";
import type { RetryRule } from "../../framework/cluster-event.ts";
import type { ClusterView } from "../../framework/plugin.ts";
import type { AffinityTerm, PodInfo } from "../../framework/pod-info.ts";
import { allCover, covers, coversNewcomer, domainOf, plainTerm, type PlainTerm } from "./terms.ts";

type Labels = Readonly<Record<string, string>>;

export function affinityRetryRules(cluster: ClusterView): readonly RetryRule[] {
  const plain = (terms: readonly AffinityTerm[]): PlainTerm[] => terms.map((term) => plainTerm(term, () => cluster.namespaces()));
  return [
    {
      of: "assigned-pod",
      changes: ["added", "labels", "deleted"],
      isWorthIt(pod, { changes, pod: other, previous }): boolean {
        const waiting = podInfoOf(pod);
        const now = podInfoOf(other);
        if (changes.has("deleted")) return leftSomething(waiting, now, plain) || refused(now, waiting, cluster);
        if (changes.has("added")) return allCover(plain(waiting.requiredAffinity), now);
        if (previous === undefined) return true;
        return changedSides(waiting, podInfoOf(previous), now, plain);
      },
    },
    // Others may keep away from its old labels and not from its new ones; and its own terms may cover it now.
    { of: "waiting-pod", changes: ["labels"] },
    {
      of: "node",
      changes: ["added", "labels"],
      isWorthIt(pod, { node, previous }): boolean {
        return previous === undefined
          ? mayTake(podInfoOf(pod), node.metadata.labels)
          : moved(podInfoOf(pod), previous.metadata.labels, node.metadata.labels);
      },
    },
    {
      of: "namespace",
      isWorthIt: (pod: Pod, { namespace, previous }): boolean => isSelectedAnew(podInfoOf(pod), namespace, previous),
    },
  ];
}

type Plain = (terms: readonly AffinityTerm[]) => PlainTerm[];

/** Whether the Pod was in the way, or was the last of the group: then the waiting one may be the first. */
function leftSomething(waiting: PodInfo, gone: PodInfo, plain: Plain): boolean {
  if (plain(waiting.requiredAntiAffinity).some((term) => covers(term, gone))) return true;
  const affinity = plain(waiting.requiredAffinity);
  return allCover(affinity, gone) && allCover(affinity, waiting);
}

function refused(by: PodInfo, waiting: PodInfo, { namespace }: ClusterView): boolean {
  if (by.requiredAntiAffinity.length === 0) return false;
  const labels = namespace(waiting.namespace)?.metadata.labels;
  return by.requiredAntiAffinity.some((term) => coversNewcomer(term, waiting, labels));
}

/** Whether a Pod with new labels has become one to be near to, or is none any more to keep away from. */
function changedSides(waiting: PodInfo, before: PodInfo, now: PodInfo, plain: Plain): boolean {
  const affinity = plain(waiting.requiredAffinity);
  if (!allCover(affinity, before) && allCover(affinity, now)) return true;
  if (allCover(affinity, before) && !allCover(affinity, now) && allCover(affinity, waiting)) return true;
  return plain(waiting.requiredAntiAffinity).some((term) => covers(term, before) && !covers(term, now));
}

/** A new node is in a domain of its own, if it has the key at all; if not, nothing that must be near to others can go there. */
function mayTake({ requiredAffinity }: PodInfo, labels: Labels = {}): boolean {
  return requiredAffinity.length === 0 || requiredAffinity.some(({ topologyKey }) => domainOf(labels, topologyKey) !== undefined);
}

/** Whether the node has come into a domain that the Pod needs, or has left one: there may have been someone who did not want it. */
function moved({ requiredAffinity }: PodInfo, before: Labels = {}, now: Labels = {}): boolean {
  for (const { topologyKey } of requiredAffinity) {
    const domain = domainOf(now, topologyKey);
    if (domain !== undefined && domain !== domainOf(before, topologyKey)) return true;
  }
  return Object.keys(before).some((key) => before[key] !== now[key]);
}

/**
 * Whether a term of the Pod selects the namespace now and did not before, or the other way round; or whether the namespace is the Pod's
 * own: terms of others select it by its labels.
 */
function isSelectedAnew(waiting: PodInfo, namespace: Namespace, previous: Namespace | undefined): boolean {
  if (namespace.metadata.name === waiting.namespace) return true;
  for (const { namespaceSelector } of [...waiting.requiredAffinity, ...waiting.requiredAntiAffinity]) {
    const isSelected = namespaceSelector.matches(namespace.metadata.labels);
    const wasSelected = previous !== undefined && namespaceSelector.matches(previous.metadata.labels);
    if (isSelected !== wasSelected) return true;
  }
  return false;
}
