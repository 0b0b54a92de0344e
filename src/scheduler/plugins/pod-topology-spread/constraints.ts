/**
 * Topology spread constraints, ready to use: selectors parsed, `matchLabelKeys` merged, defaults applied. A Pod's own ones are cached with
 * it, since the queue needs them at every event.
 */
import type { Pod, TopologySpreadConstraint } from "../../../api/generated/core/v1.ts";
import { LabelSelector, labelSelectorFromObject } from "../../../api/machinery/selectors/label-selector.ts";
import type { LabelRequirement } from "../../../api/machinery/selectors/label-requirement.ts";

type Labels = Readonly<Record<string, string>>;

export type WhenUnsatisfiable = TopologySpreadConstraint["whenUnsatisfiable"];

export interface SpreadConstraint {
  /** By how many Pods a domain may exceed the one with the fewest. */
  readonly maxSkew: number;
  readonly topologyKey: string;
  /** Selects the Pods of the same namespace to spread. */
  readonly selector: LabelSelector;
  /** While there are fewer domains, the minimum counts as 0. */
  readonly minDomains: number;
  /** Whether nodes excluded by the Pod's node selector and affinity are ignored. */
  readonly honorsNodeAffinity: boolean;
  /** Whether nodes with untolerated taints are ignored. */
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

/** The Pod's own ones. Throws SelectorError for a selector that validation would reject. */
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

/** The API server has already merged them for Pods created by this version; twice does no harm. */
function withLabelKeys(selector: LabelSelector, keys: readonly string[], podLabels: Labels): LabelSelector {
  if (selector.isNothing) return selector;
  const added: LabelRequirement[] = keys
    .filter((key) => Object.hasOwn(podLabels, key))
    .map((key) => ({ key, operator: "=", values: [podLabels[key] ?? ""] }));
  return added.length === 0 ? selector : new LabelSelector([...added, ...selector.requirements]);
}

/** Whether a node has all topology keys; others are ignored. */
export function hasAllKeys(labels: Labels, constraints: readonly SpreadConstraint[]): boolean {
  for (const { topologyKey } of constraints) if (domainOf(labels, topologyKey) === undefined) return false;
  return true;
}

/** The domain of a node. A label may be named "constructor": inherited members are not labels. */
export function domainOf(labels: Labels, topologyKey: string): string | undefined {
  const value: unknown = labels[topologyKey];
  return typeof value === "string" ? value : undefined;
}
