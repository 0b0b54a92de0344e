/**
 * Constraints of topology spread, ready to use: selectors are read, `matchLabelKeys` are in them, defaults are filled in. Those that a Pod
 * states itself are kept with it, since the queue asks for them at every event.
 */
import type { Pod, TopologySpreadConstraint } from "../../../api/generated/core/v1.ts";
import { LabelSelector, labelSelectorFromObject } from "../../../api/machinery/selectors/label-selector.ts";
import type { LabelRequirement } from "../../../api/machinery/selectors/label-requirement.ts";

type Labels = Readonly<Record<string, string>>;

export type WhenUnsatisfiable = TopologySpreadConstraint["whenUnsatisfiable"];

export interface SpreadConstraint {
  /** By how many Pods a domain may be ahead of the one with the fewest. */
  readonly maxSkew: number;
  readonly topologyKey: string;
  /** Which Pods of the same namespace are to be spread. */
  readonly selector: LabelSelector;
  /** While there are fewer domains, the one with the fewest is said to have none. */
  readonly minDomains: number;
  /** Whether nodes that the Pod's node selector and node affinity rule out do not count. */
  readonly honorsNodeAffinity: boolean;
  /** Whether nodes with taints that the Pod does not tolerate do not count. */
  readonly honorsNodeTaints: boolean;
}

interface OwnConstraints {
  readonly DoNotSchedule: readonly SpreadConstraint[];
  readonly ScheduleAnyway: readonly SpreadConstraint[];
}

const NONE: OwnConstraints = { DoNotSchedule: [], ScheduleAnyway: [] };
const known = new WeakMap<Pod, OwnConstraints>();

export function hasOwnConstraints({ spec }: Pod): boolean {
  return (spec?.topologySpreadConstraints?.length ?? 0) > 0;
}

/** Those that the Pod states. Throws SelectorError for a selector that the API server would not have let pass. */
export function ownConstraints(pod: Pod, when: WhenUnsatisfiable): readonly SpreadConstraint[] {
  const written = pod.spec?.topologySpreadConstraints ?? [];
  if (written.length === 0) return NONE[when];
  let own = known.get(pod);
  if (own === undefined) {
    const labels = pod.metadata.labels ?? {};
    own = {
      DoNotSchedule: readConstraints(written, labels, "DoNotSchedule"),
      ScheduleAnyway: readConstraints(written, labels, "ScheduleAnyway"),
    };
    known.set(pod, own);
  }
  return own[when];
}

export function readConstraints(
  written: readonly TopologySpreadConstraint[],
  podLabels: Labels,
  when: WhenUnsatisfiable,
): readonly SpreadConstraint[] {
  return written
    .filter(({ whenUnsatisfiable }) => whenUnsatisfiable === when)
    .map(({ maxSkew, topologyKey, labelSelector, matchLabelKeys = [], minDomains = 1, nodeAffinityPolicy, nodeTaintsPolicy }) => ({
      maxSkew,
      topologyKey,
      selector: withLabelKeys(labelSelectorFromObject(labelSelector), matchLabelKeys, podLabels),
      minDomains,
      honorsNodeAffinity: nodeAffinityPolicy !== "Ignore",
      honorsNodeTaints: nodeTaintsPolicy === "Honor",
    }));
}

/** The API server has put them there already, for Pods that were made by this version; twice does no harm. */
function withLabelKeys(selector: LabelSelector, keys: readonly string[], podLabels: Labels): LabelSelector {
  if (selector.isNothing) return selector;
  const added: LabelRequirement[] = keys
    .filter((key) => Object.hasOwn(podLabels, key))
    .map((key) => ({ key, operator: "=", values: [podLabels[key] ?? ""] }));
  return added.length === 0 ? selector : new LabelSelector([...added, ...selector.requirements]);
}

/** Whether a node is in a domain of every constraint; the others do not count for any. */
export function hasAllKeys(labels: Labels, constraints: readonly SpreadConstraint[]): boolean {
  for (const { topologyKey } of constraints) if (domainOf(labels, topologyKey) === undefined) return false;
  return true;
}

/** The domain of a node. A label may be called "constructor": what is inherited is no label. */
export function domainOf(labels: Labels, topologyKey: string): string | undefined {
  const value: unknown = labels[topologyKey];
  return typeof value === "string" ? value : undefined;
}
