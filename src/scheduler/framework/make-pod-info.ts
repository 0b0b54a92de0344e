/**
 * Creates PodInfos. The same Pod object gives the same PodInfo, so that queue, cycle and cache share it without passing it around. What is
 * immutable in a Pod (its affinity rules and volumes) is reused from its last version: parsing selectors is expensive.
 */
import { hostPortsOf } from "../../api/core/v1/pod/host-ports.ts";
import type { Pod, PodAffinityTerm, WeightedPodAffinityTerm } from "../../api/generated/core/v1.ts";
import { SelectorError } from "../../api/machinery/selectors/label-requirement.ts";
import { labelSelectorFromObject } from "../../api/machinery/selectors/label-selector.ts";
import type { AffinityTerm, PodInfo, WeightedAffinityTerm } from "./pod-info.ts";
import { requestsOf } from "./pod-requests.ts";
import { claimUses } from "./volumes/pod-claims.ts";

const NO_LABELS: Readonly<Record<string, string>> = Object.freeze({});

const made = new WeakMap<Pod, PodInfo>();

/** `previous`: another version of the Pod, if available. */
export function podInfoOf(pod: Pod, previous?: PodInfo): PodInfo {
  const known = made.get(pod);
  if (known !== undefined) return known;
  const info = makePodInfo(pod, previous);
  made.set(pod, info);
  return info;
}

/** The Pod as it will be once it is bound to the node. */
export function placedOn(info: PodInfo, nodeName: string): PodInfo {
  if (info.pod.spec?.nodeName === nodeName) return info;
  const pod = { ...info.pod, spec: { ...info.pod.spec, containers: info.pod.spec?.containers ?? [], nodeName } };
  const placed = { ...info, pod };
  made.set(pod, placed);
  return placed;
}

function makePodInfo(pod: Pod, previous: PodInfo | undefined): PodInfo {
  const { name, namespace = "", uid = "", labels = NO_LABELS } = pod.metadata;
  const affinity = previous !== undefined && previous.uid === uid ? previous : readAffinity(pod, namespace);
  const { requests, nonZeroMilliCpu, nonZeroMemoryBytes } = requestsOf(pod);
  return {
    pod,
    key: `${namespace}/${name}`,
    uid,
    namespace,
    labels,
    priority: pod.spec?.priority ?? 0,
    requests,
    nonZeroMilliCpu,
    nonZeroMemoryBytes,
    hostPorts: hostPortsOf(pod),
    claimKeys: affinity === previous ? previous.claimKeys : claimKeysOf(pod, namespace),
    requiredAffinity: affinity.requiredAffinity,
    requiredAntiAffinity: affinity.requiredAntiAffinity,
    preferredAffinity: affinity.preferredAffinity,
    preferredAntiAffinity: affinity.preferredAntiAffinity,
  };
}

function claimKeysOf(pod: Pod, namespace: string): readonly string[] {
  const uses = claimUses(pod);
  if (uses.length === 0) return NO_KEYS;
  return [...new Set(uses.map(({ name }) => `${namespace}/${name}`))];
}

const NO_KEYS: readonly string[] = Object.freeze([]);

type Affinity = Pick<PodInfo, "requiredAffinity" | "requiredAntiAffinity" | "preferredAffinity" | "preferredAntiAffinity">;

const NO_TERMS: readonly never[] = Object.freeze([]);
const NO_AFFINITY: Affinity = {
  requiredAffinity: NO_TERMS,
  requiredAntiAffinity: NO_TERMS,
  preferredAffinity: NO_TERMS,
  preferredAntiAffinity: NO_TERMS,
};

function readAffinity(pod: Pod, namespace: string): Affinity {
  const { podAffinity, podAntiAffinity } = pod.spec?.affinity ?? {};
  if (podAffinity === undefined && podAntiAffinity === undefined) return NO_AFFINITY;
  return {
    requiredAffinity: readTerms(podAffinity?.requiredDuringSchedulingIgnoredDuringExecution, namespace),
    requiredAntiAffinity: readTerms(podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution, namespace),
    preferredAffinity: readWeightedTerms(podAffinity?.preferredDuringSchedulingIgnoredDuringExecution, namespace),
    preferredAntiAffinity: readWeightedTerms(podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution, namespace),
  };
}

function readTerms(terms: readonly PodAffinityTerm[] | undefined, namespace: string): readonly AffinityTerm[] {
  if (terms === undefined || terms.length === 0) return NO_TERMS;
  return orNone(() => terms.map((term) => readTerm(term, namespace)));
}

function readWeightedTerms(terms: readonly WeightedPodAffinityTerm[] | undefined, namespace: string): readonly WeightedAffinityTerm[] {
  if (terms === undefined || terms.length === 0) return NO_TERMS;
  return orNone(() => terms.map(({ weight, podAffinityTerm }) => ({ weight, term: readTerm(podAffinityTerm, namespace) })));
}

/** The API server accepts some meaningless selectors. As upstream, the whole list containing one is omitted. */
function orNone<T>(read: () => readonly T[]): readonly T[] {
  try {
    return read();
  } catch (error) {
    if (error instanceof SelectorError) return NO_TERMS;
    throw error;
  }
}

function readTerm({ labelSelector, namespaces = [], namespaceSelector, topologyKey }: PodAffinityTerm, own: string): AffinityTerm {
  const isOwnOnly = namespaces.length === 0 && namespaceSelector === undefined;
  return {
    namespaces: new Set(isOwnOnly ? [own] : namespaces),
    namespaceSelector: labelSelectorFromObject(namespaceSelector),
    selector: labelSelectorFromObject(labelSelector),
    topologyKey,
  };
}
