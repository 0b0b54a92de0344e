/**
 * Queueing hints of InterPodAffinity. Each rule covers everything that can turn a rejection of filtering.ts into acceptance. That is a
 * little more than upstream's, which makes some Pods wait for its five-minute flush: those rejected by others' anti-affinity when a node is
 * added, those with a namespace selector, and those whose group has lost its last Pod.
 */
import type { Namespace } from "../../../api/generated/core/v1.ts";
import { podInfoOf } from "../../framework/make-pod-info.ts";
import type { RetryRule } from "../../framework/cluster-event.ts";
import type { ClusterView } from "../../framework/plugin.ts";
import type { AffinityTerm, PodInfo } from "../../framework/pod-info.ts";
import { domainOf, termCovers } from "./terms.ts";

type Labels = Readonly<Record<string, string>>;

export function affinityRetryRules(cluster: ClusterView): readonly RetryRule[] {
  const isCovered = (term: AffinityTerm, pod: PodInfo): boolean => termCovers(term, pod, cluster.namespace(pod.namespace)?.metadata.labels);
  return [
    {
      of: "assigned-pod",
      changes: ["added", "labels", "deleted"],
      isWorthIt(pod, { changes, pod: other, previous }): boolean {
        const waiting = podInfoOf(pod);
        const now = podInfoOf(other);
        if (changes.has("deleted")) return leftRoom(waiting, now, isCovered);
        if (changes.has("added")) return isFriend(waiting, now, isCovered);
        return previous === undefined || changedSides(waiting, podInfoOf(previous), now, isCovered);
      },
    },
    // Others' anti-affinity may match its old labels and not its new ones; and its own terms may match it now.
    { of: "waiting-pod", changes: ["labels"] },
    {
      of: "node",
      changes: ["added", "labels"],
      isWorthIt(pod, { node, previous }): boolean {
        const { labels } = node.metadata;
        return previous === undefined ? mayTake(podInfoOf(pod), labels) : moved(podInfoOf(pod), previous.metadata.labels, labels);
      },
    },
    {
      of: "namespace",
      isWorthIt: (pod, { namespace, previous }): boolean => isNewlySelected(podInfoOf(pod), namespace, previous),
    },
  ];
}

type IsCovered = (term: AffinityTerm, pod: PodInfo) => boolean;

/** Whether a Pod's affinity matches the other. */
function isFriend({ requiredAffinity }: PodInfo, other: PodInfo, isCovered: IsCovered): boolean {
  return requiredAffinity.length > 0 && requiredAffinity.every((term) => isCovered(term, other));
}

/**
 * Whether one of the two had anti-affinity to the other, or the deleted one was the last of the group: then the waiting one may be the
 * first.
 */
function leftRoom(waiting: PodInfo, deleted: PodInfo, isCovered: IsCovered): boolean {
  if (waiting.requiredAntiAffinity.some((term) => isCovered(term, deleted))) return true;
  if (deleted.requiredAntiAffinity.some((term) => isCovered(term, waiting))) return true;
  return isFriend(waiting, deleted, isCovered) && isFriend(waiting, waiting, isCovered);
}

/** Whether a Pod with new labels now satisfies affinity, no longer violates anti-affinity, or has left the group. */
function changedSides(waiting: PodInfo, before: PodInfo, now: PodInfo, isCovered: IsCovered): boolean {
  const [wasFriend, isNowFriend] = [isFriend(waiting, before, isCovered), isFriend(waiting, now, isCovered)];
  if (wasFriend !== isNowFriend && (isNowFriend || isFriend(waiting, waiting, isCovered))) return true;
  return waiting.requiredAntiAffinity.some((term) => isCovered(term, before) && !isCovered(term, now));
}

/** A new node is in its own domain, if it has the key at all; if not, no Pod with affinity can be placed there. */
function mayTake({ requiredAffinity }: PodInfo, labels: Labels = {}): boolean {
  return requiredAffinity.length === 0 || requiredAffinity.some(({ topologyKey }) => domainOf(labels, topologyKey) !== undefined);
}

/** Whether the node joined a domain that the Pod needs, or left one: anti-affinity may have applied there. */
function moved({ requiredAffinity }: PodInfo, before: Labels = {}, now: Labels = {}): boolean {
  for (const { topologyKey } of requiredAffinity) {
    const domain = domainOf(now, topologyKey);
    if (domain !== undefined && domain !== domainOf(before, topologyKey)) return true;
  }
  return Object.keys(before).some((key) => before[key] !== now[key]);
}

/**
 * Whether a term of the Pod starts or stops to select the namespace; or whether the namespace is the Pod's own: others' terms select it by
 * its labels.
 */
function isNewlySelected(waiting: PodInfo, namespace: Namespace, previous: Namespace | undefined): boolean {
  if (namespace.metadata.name === waiting.namespace) return true;
  for (const { namespaceSelector } of [...waiting.requiredAffinity, ...waiting.requiredAntiAffinity]) {
    const isSelected = namespaceSelector.matches(namespace.metadata.labels);
    const wasSelected = previous !== undefined && namespaceSelector.matches(previous.metadata.labels);
    if (isSelected !== wasSelected) return true;
  }
  return false;
}
