/**
 * A Pod with what plugins ask of it over and over, read once. It is never changed: another version of the Pod is another PodInfo.
 * Only types are here; make-pod-info.ts makes them.
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
  /** 0 if it says none. */
  readonly priority: number;
  /** What it asks of a node: the greater of the sum of its containers (with sidecars) and each init container, and its overhead. */
  readonly requests: Resources;
  /** The same for scoring: a container that asks for no CPU or memory counts as 100m and 200 MB. */
  readonly nonZeroMilliCpu: number;
  readonly nonZeroMemoryBytes: number;
  /** Ports of the node that it takes. */
  readonly hostPorts: readonly HostPort[];
  readonly requiredAffinity: readonly AffinityTerm[];
  readonly requiredAntiAffinity: readonly AffinityTerm[];
  readonly preferredAffinity: readonly WeightedAffinityTerm[];
  readonly preferredAntiAffinity: readonly WeightedAffinityTerm[];
}

/** A term of pod affinity, ready to match. `matchLabelKeys` are in the selector already, as the API server puts them there. */
export interface AffinityTerm {
  /** Namespaces by name: those that the term names, or the Pod's own if it names none and has no namespace selector. */
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
