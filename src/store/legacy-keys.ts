/**
 * Maps keys of the layout before upstream's, `/<group or core>/<plural>/[<namespace>/]<name>`, to current ones (store/key.ts). For the
 * migration of a data directory; the table is history and does not grow.
 */
import { parseExpiryRecord } from "./expiry-record.ts";

/** Groups whose name is no longer part of the key. All others were and are stored by group and plural name. */
const DROPPED_GROUPS: ReadonlySet<string> = new Set([
  "admissionregistration.k8s.io",
  "apps",
  "autoscaling",
  "batch",
  "certificates.k8s.io",
  "coordination.k8s.io",
  "core",
  "discovery.k8s.io",
  "flowcontrol.apiserver.k8s.io",
  "networking.k8s.io",
  "node.k8s.io",
  "policy",
  "rbac.authorization.k8s.io",
  "resource.k8s.io",
  "scheduling.k8s.io",
  "storage.k8s.io",
]);

/** Resources that are named differently in current keys. */
const RENAMED: ReadonlyMap<string, string> = new Map([
  ["core/endpoints", "services/endpoints"],
  ["core/nodes", "minions"],
  ["core/replicationcontrollers", "controllers"],
  ["core/services", "services/specs"],
  ["networking.k8s.io/ingresses", "ingress"],
]);

/**
 * The current form of a key of the old layout. Distinct keys stay distinct, but their order changes. Only for keys known to be of the old
 * layout: a current key has no distinguishing mark.
 */
export function legacyKeyToCurrent(key: string): string {
  const record = parseExpiryRecord(key);
  // The key of an expiry record ends with the key that expires.
  if (record !== undefined) return key.slice(0, key.length - record.key.length) + legacyKeyToCurrent(record.key);
  const [, group = "", plural = ""] = key.split("/", 3);
  if (!DROPPED_GROUPS.has(group)) return key;
  const rest = key.slice(group.length + plural.length + "//".length);
  return `/${RENAMED.get(`${group}/${plural}`) ?? plural}${rest}`;
}
