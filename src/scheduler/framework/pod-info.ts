/**
 * A Pod with precomputed data that plugins use repeatedly. Immutable: another version of the Pod is another PodInfo. Types only;
 * make-pod-info.ts creates them.
 */
import type { HostPort } from "../../api/core/v1/pod/host-ports.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import type { LabelSelector } from "../../api/machinery/selectors/label-selector.ts";
import type { Resources } from "./resources.ts";

export interface PodInfo {
  readonly pod: Pod;
  /** "namespace/name" */
  readonly key: string;
  readonly uid: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  /** 0 if unset. */
  readonly priority: number;
  /** Its requests: the greater of the sum of its containers (with sidecars) and each init container, plus its overhead. */
  readonly requests: Resources;
  /** The same for scoring: a container without CPU or memory requests counts as 100m and 200 MB. */
  readonly nonZeroMilliCpu: number;
  readonly nonZeroMemoryBytes: number;
  /** Host ports. */
  readonly hostPorts: readonly HostPort[];
  /** Its PersistentVolumeClaims, "namespace/name", each once; most Pods have none. */
  readonly claimKeys: readonly string[];
  readonly requiredAffinity: readonly AffinityTerm[];
  readonly requiredAntiAffinity: readonly AffinityTerm[];
  readonly preferredAffinity: readonly WeightedAffinityTerm[];
  readonly preferredAntiAffinity: readonly WeightedAffinityTerm[];
}

/** A term of pod affinity, ready to match. `matchLabelKeys` are already in the selector, as the API server merges them. */
export interface AffinityTerm {
  /** Namespaces by name: those of the term, or the Pod's own if it has none and no namespace selector. */
  readonly namespaces: ReadonlySet<string>;
  /** Namespaces by label; NOTHING if the term has none. */
  readonly namespaceSelector: LabelSelector;
  readonly selector: LabelSelector;
  readonly topologyKey: string;
}

export interface WeightedAffinityTerm {
  readonly weight: number;
  readonly term: AffinityTerm;
}
