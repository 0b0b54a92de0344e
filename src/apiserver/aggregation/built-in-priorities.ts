/**
 * Priorities of the built-in groups and versions in discovery, as upstream's: clients take the first group that has a short name. A group
 * that is in no row is one of custom resources.
 */
import type { GroupVersion } from "../../api/machinery/object.ts";
import type { ApiPriority } from "../framework/apis/aggregation.ts";

/** By group: its priority, and that of each version. */
const BUILT_IN: Readonly<Record<string, readonly [group: number, versions: Readonly<Record<string, number>>]>> = {
  "": [18_000, { v1: 1 }],
  apps: [17_800, { v1: 15 }],
  "events.k8s.io": [17_750, { v1: 15, v1beta1: 5 }],
  "authentication.k8s.io": [17_700, { v1: 15, v1beta1: 9, v1alpha1: 1 }],
  "authorization.k8s.io": [17_600, { v1: 15 }],
  autoscaling: [17_500, { v2: 30, v1: 15 }],
  batch: [17_400, { v1: 15, v1beta1: 9 }],
  "certificates.k8s.io": [17_300, { v1: 15, v1beta1: 9, v1alpha1: 1 }],
  "networking.k8s.io": [17_200, { v1: 15, v1beta1: 9 }],
  policy: [17_100, { v1: 15, v1beta1: 9 }],
  "rbac.authorization.k8s.io": [17_000, { v1: 15 }],
  "storage.k8s.io": [16_800, { v1: 15, v1beta1: 9, v1alpha1: 1 }],
  "admissionregistration.k8s.io": [16_700, { v1: 15, v1beta1: 12, v1alpha1: 9 }],
  "apiextensions.k8s.io": [16_700, { v1: 15 }],
  "scheduling.k8s.io": [16_600, { v1: 15, v1alpha2: 2 }],
  "coordination.k8s.io": [16_500, { v1: 15, v1beta1: 13, v1alpha2: 12 }],
  "node.k8s.io": [16_300, { v1: 15, v1beta1: 9, v1alpha1: 1 }],
  "discovery.k8s.io": [16_200, { v1: 15, v1beta1: 12 }],
  "resource.k8s.io": [16_200, { v1: 21, v1beta2: 15, v1beta1: 9, v1alpha3: 1 }],
  "flowcontrol.apiserver.k8s.io": [16_100, { v1: 21, v1beta3: 18, v1beta2: 15, v1beta1: 12, v1alpha1: 9 }],
  "internal.apiserver.k8s.io": [16_000, { v1alpha1: 9 }],
  "storagemigration.k8s.io": [15_800, { v1beta1: 9 }],
};

/** Undefined: not a built-in one with an APIService. */
export function builtInPriority({ group, version }: GroupVersion): ApiPriority | undefined {
  const row = Object.hasOwn(BUILT_IN, group) ? BUILT_IN[group] : undefined;
  const versionPriority = row !== undefined && Object.hasOwn(row[1], version) ? row[1][version] : undefined;
  return row === undefined || versionPriority === undefined ? undefined : { group: row[0], version: versionPriority };
}

/** Of APIServices of custom resources, as upstream: low, and versions by their names. */
export const CUSTOM_RESOURCE_PRIORITY: ApiPriority = { group: 1_000, version: 100 };

/**
 * Groups that this server serves without an APIService: apiregistration.k8s.io itself, which upstream lists first, and the metrics APIs,
 * which are of metrics-server and adapters upstream (their priorities): their manifests must be able to create the APIServices.
 */
const UNREGISTERED: Readonly<Record<string, ApiPriority>> = {
  "apiregistration.k8s.io": { group: 20_000, version: 0 },
  "metrics.k8s.io": { group: 100, version: 100 },
  "custom.metrics.k8s.io": { group: 100, version: 100 },
  "external.metrics.k8s.io": { group: 100, version: 100 },
};

/** Of a group and version that this server serves. */
export function localPriority(place: GroupVersion): ApiPriority {
  return builtInPriority(place) ?? UNREGISTERED[place.group] ?? CUSTOM_RESOURCE_PRIORITY;
}
