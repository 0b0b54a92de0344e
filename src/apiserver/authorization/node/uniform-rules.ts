/**
 * Rules that are the same for every node: the part of upstream's node rules that does not depend on the object. Rules per node are in
 * resource-rules.ts.
 */
import type { AccessedResource } from "../../framework/authorization.ts";

const READ = ["get", "list", "watch"];

/** Verbs by group, then by resource. */
const RULES: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  "": {
    services: READ,
    endpoints: ["get"],
    events: ["create", "update", "patch"],
  },
  "events.k8s.io": { events: ["create", "update", "patch"] },
  // Token and access reviews change nothing.
  "authentication.k8s.io": { tokenreviews: ["create"] },
  "authorization.k8s.io": { subjectaccessreviews: ["create"], localsubjectaccessreviews: ["create"] },
  // For certificate rotation.
  "certificates.k8s.io": { certificatesigningrequests: ["create", ...READ], clustertrustbundles: READ },
  "storage.k8s.io": { csidrivers: READ },
  "node.k8s.io": { runtimeclasses: READ },
};

export function isAllowedForAllNodes(verb: string, { group, plural, subresource }: AccessedResource): boolean {
  if (subresource !== "" || !Object.hasOwn(RULES, group)) return false;
  const resources = RULES[group] ?? {};
  return Object.hasOwn(resources, plural) && (resources[plural]?.includes(verb) ?? false);
}
