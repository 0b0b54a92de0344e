/**
 * Key prefixes of resources, as upstream stores them in etcd under `/registry/`: by the plural name alone for the groups that are part of
 * Kubernetes, by group and plural name for all others (custom resources, and the two groups that upstream's extension servers own). So an
 * etcd can be handed over between upstream's API server and this one. Not here: the form of whole keys (store/key.ts,
 * apiserver/framework/storage/object-key.ts).
 */

/** Groups whose resources are stored by plural name. A custom resource's group may also end in `.k8s.io`, so each is listed. */
const GROUPS_BY_PLURAL: ReadonlySet<string> = new Set([
  "",
  "admissionregistration.k8s.io",
  "apps",
  "autoscaling",
  "batch",
  "certificates.k8s.io",
  "coordination.k8s.io",
  "discovery.k8s.io",
  "events.k8s.io",
  "flowcontrol.apiserver.k8s.io",
  "internal.apiserver.k8s.io",
  "networking.k8s.io",
  "node.k8s.io",
  "policy",
  "rbac.authorization.k8s.io",
  "resource.k8s.io",
  "scheduling.k8s.io",
  "storage.k8s.io",
  "storagemigration.k8s.io",
]);

/** Resources that upstream stores under an older name than the served one. */
const EXCEPTIONS: ReadonlyMap<string, string> = new Map([
  ["endpoints", "services/endpoints"],
  ["networking.k8s.io/ingresses", "ingress"],
  ["nodes", "minions"],
  ["replicationcontrollers", "controllers"],
  ["services", "services/specs"],
]);

/** `/<resource>/`: key prefix of all objects of a resource. `group` is that of the storage version. */
export function storagePrefix({ group, plural }: { readonly group: string; readonly plural: string }): string {
  const qualified = group === "" ? plural : `${group}/${plural}`;
  return `/${EXCEPTIONS.get(qualified) ?? (GROUPS_BY_PLURAL.has(group) ? plural : qualified)}/`;
}
