/** The Pod of a DaemonSet for one node, and for which node a Pod is. The scheduler binds it by its affinity to the node's name. Pure. */
import { TEMPLATE_GENERATION_ANNOTATION } from "../../api/apps/v1/daemon-set-generation.ts";
import type { DaemonSet } from "../../api/generated/apps/v1.ts";
import type { Affinity, NodeSelectorTerm, Pod, PodTemplateSpec } from "../../api/generated/core/v1.ts";
import type { Draft } from "../../client/client.ts";
import { podDraft } from "../shared/pod-control.ts";
import { withDaemonTolerations } from "./placement.ts";

export const REVISION_HASH_LABEL = "controller-revision-hash";
const TEMPLATE_GENERATION_LABEL = "pod-template-generation";
const NAME_FIELD = "metadata.name";

/** How Pods of the current template are recognized. */
export interface CurrentTemplate {
  /** Hash label of its revision. */
  readonly hash: string;
  /** Number of the template, of Pods from before there were hashes; undefined if it is unknown. */
  readonly generation: string | undefined;
}

export function currentTemplate({ metadata }: DaemonSet, hash: string): CurrentTemplate {
  const generation = metadata.annotations?.[TEMPLATE_GENERATION_ANNOTATION];
  return { hash, generation: generation !== undefined && /^[-+]?[0-9]+$/.test(generation) ? generation : undefined };
}

export function isUpdated({ metadata: { labels = {} } }: Pod, { hash, generation }: CurrentTemplate): boolean {
  return labels[REVISION_HASH_LABEL] === hash || (generation !== undefined && labels[TEMPLATE_GENERATION_LABEL] === generation);
}

/** Returns the draft of the Pod for a node. What does not depend on the node is computed once. */
export function daemonPods(daemonSet: DaemonSet, template: PodTemplateSpec, current: CurrentTemplate): (node: string) => Draft<Pod> {
  const { metadata, spec = { containers: [] } } = template;
  const { hash, generation } = current;
  const generationLabel = generation === undefined ? {} : { [TEMPLATE_GENERATION_LABEL]: generation };
  const labels = { ...metadata?.labels, ...generationLabel, [REVISION_HASH_LABEL]: hash };
  const tolerant = withDaemonTolerations(spec);
  return (node) =>
    podDraft({ metadata: { ...metadata, labels }, spec: { ...tolerant, affinity: affinityTo(node, spec.affinity) } }, daemonSet);
}

/** Replaces required terms: the node was already checked against them. */
function affinityTo(node: string, affinity: Affinity = {}): Affinity {
  const term: NodeSelectorTerm = { matchFields: [{ key: NAME_FIELD, operator: "In", values: [node] }] };
  const required = { ...affinity.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution, nodeSelectorTerms: [term] };
  return { ...affinity, nodeAffinity: { ...affinity.nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: required } };
}

/** The node that a Pod runs on, or is meant for; undefined for an adopted Pod that is meant for none. */
export function targetNode({ spec }: Pod): string | undefined {
  const { nodeName = "", affinity } = spec ?? {};
  if (nodeName !== "") return nodeName;
  for (const { matchFields = [] } of affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []) {
    const named = matchFields.find(({ key, operator }) => key === NAME_FIELD && operator === "In");
    if (named !== undefined) return named.values?.length === 1 ? named.values[0] : undefined;
  }
  return undefined;
}

export type PodsByNode = ReadonlyMap<string, readonly Pod[]>;

/** Pods that ended and are being deleted no longer occupy their node. */
export function podsByNode(pods: readonly Pod[]): PodsByNode {
  const byNode = new Map<string, Pod[]>();
  for (const pod of pods) {
    const node = targetNode(pod);
    if (node === undefined || hasLeft(pod)) continue;
    const there = byNode.get(node);
    if (there === undefined) byNode.set(node, [pod]);
    else there.push(pod);
  }
  return byNode;
}

function hasLeft({ metadata, status }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined && (status?.phase === "Succeeded" || status?.phase === "Failed");
}

/** Of several Pods on a node the first one counts: bound ones before others, then the oldest. */
export function bySeniority(a: Pod, b: Pod): number {
  const [aBound, bBound] = [(a.spec?.nodeName ?? "") !== "", (b.spec?.nodeName ?? "") !== ""];
  if (aBound !== bBound) return aBound ? -1 : 1;
  return (
    compareText(a.metadata.creationTimestamp ?? "", b.metadata.creationTimestamp ?? "") || compareText(a.metadata.name, b.metadata.name)
  );
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
