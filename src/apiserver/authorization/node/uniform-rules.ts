/**
 * What every node may do alike, whichever node it is: the part of upstream's rules for nodes that is about no object in particular.
 * What is divided among the nodes stands in resource-rules.ts.
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
  // Asking who somebody is and what they may do changes nothing.
  "authentication.k8s.io": { tokenreviews: ["create"] },
  "authorization.k8s.io": { subjectaccessreviews: ["create"], localsubjectaccessreviews: ["create"] },
  // To get a certificate anew before the old one ends.
  "certificates.k8s.io": { certificatesigningrequests: ["create", ...READ] },
  "storage.k8s.io": { csidrivers: READ },
  "node.k8s.io": { runtimeclasses: READ },
};

export function mayEveryNode(verb: string, { group, plural, subresource }: AccessedResource): boolean {
  if (subresource !== "" || !Object.hasOwn(RULES, group)) return false;
  const resources = RULES[group] ?? {};
  return Object.hasOwn(resources, plural) && (resources[plural]?.includes(verb) ?? false);
}
