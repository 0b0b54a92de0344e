/**
 * Default constraints for Pods without their own. The selector is derived from the Services that select the Pod and from its controller. A
 * Pod with neither is not spread.
 */
import type { Pod, TopologySpreadConstraint } from "../../../api/generated/core/v1.ts";
import type { LabelSelectorObject } from "../../../api/machinery/selectors/label-selector.ts";
import { LabelSelector, labelSelectorFromObject } from "../../../api/machinery/selectors/label-selector.ts";
import type { LabelRequirement } from "../../../api/machinery/selectors/label-requirement.ts";
import type { ClusterView } from "../../framework/plugin.ts";
import { readConstraints, type SpreadConstraint, type WhenUnsatisfiable } from "./constraints.ts";

type Labels = Readonly<Record<string, string>>;

export const HOSTNAME_LABEL = "kubernetes.io/hostname";
const ZONE_LABEL = "topology.kubernetes.io/zone";

/** Upstream's. Zones may differ by more, as they hold more. */
export const SYSTEM_CONSTRAINTS: readonly TopologySpreadConstraint[] = [
  { topologyKey: HOSTNAME_LABEL, whenUnsatisfiable: "ScheduleAnyway", maxSkew: 3 },
  { topologyKey: ZONE_LABEL, whenUnsatisfiable: "ScheduleAnyway", maxSkew: 5 },
];

export function defaultConstraints(
  pod: Pod,
  when: WhenUnsatisfiable,
  written: readonly TopologySpreadConstraint[],
  cluster: ClusterView,
): readonly SpreadConstraint[] {
  const constraints = readConstraints(written, pod.metadata.labels ?? {}, when);
  if (constraints.length === 0) return constraints;
  const selector = selectorOfPod(pod, cluster);
  return selector.isEverything ? [] : constraints.map((constraint) => ({ ...constraint, selector }));
}

/** All requirements of the Pod's Services and controller. */
function selectorOfPod(pod: Pod, cluster: ClusterView): LabelSelector {
  // All of them select this Pod, so that no two require different values of one label.
  const labels = new Map<string, string>();
  for (const { spec } of cluster.services(pod.metadata.namespace ?? "")) {
    if (spec?.selector !== undefined && isSubset(spec.selector, pod.metadata.labels ?? {})) addAll(labels, spec.selector);
  }
  const owned = selectorOfOwner(pod, cluster);
  addAll(labels, owned.labels ?? {});
  const equal = [...labels].map(([key, value]): LabelRequirement => ({ key, operator: "=", values: [value] }));
  return new LabelSelector([...equal, ...(owned.selector?.requirements ?? [])]);
}

interface Owned {
  readonly labels?: Labels;
  readonly selector?: LabelSelector;
}

function selectorOfOwner({ metadata }: Pod, cluster: ClusterView): Owned {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (owner === undefined) return {};
  const namespace = metadata.namespace ?? "";
  switch (`${owner.apiVersion} ${owner.kind}`) {
    case "v1 ReplicationController": {
      const labels = named(cluster.replicationControllers(namespace), owner.name)?.spec?.selector;
      return labels === undefined ? {} : { labels };
    }
    case "apps/v1 ReplicaSet":
      return readSelector(named(cluster.replicaSets(namespace), owner.name)?.spec?.selector);
    case "apps/v1 StatefulSet":
      return readSelector(named(cluster.statefulSets(namespace), owner.name)?.spec?.selector);
    default:
      return {};
  }
}

function readSelector(selector: LabelSelectorObject | undefined): Owned {
  return selector === undefined ? {} : { selector: labelSelectorFromObject(selector) };
}

function named<T extends { readonly metadata: { readonly name?: string } }>(objects: readonly T[], name: string): T | undefined {
  return objects.find(({ metadata }) => metadata.name === name);
}

function isSubset(part: Labels, whole: Labels): boolean {
  for (const key of Object.keys(part)) if (part[key] !== whole[key]) return false;
  return true;
}

function addAll(labels: Map<string, string>, more: Labels): void {
  for (const [key, value] of Object.entries(more)) labels.set(key, value);
}
