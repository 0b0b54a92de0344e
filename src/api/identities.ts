/**
 * Who the parts of a cluster are, by the names that upstream's roles are given to. Each part has its own, whether it runs in this
 * process or in another: certificates are made for these names, and in-process transports carry them.
 */

export interface IdentityName {
  readonly name: string;
  readonly groups: readonly string[];
}

/** Whoever may do everything. */
export const ADMINISTRATOR: IdentityName = { name: "kubernetes-admin", groups: ["system:masters"] };

export const KUBE_CONTROLLER_MANAGER: IdentityName = { name: "system:kube-controller-manager", groups: [] };
export const KUBE_SCHEDULER: IdentityName = { name: "system:kube-scheduler", groups: [] };
export const KUBE_PROXY: IdentityName = { name: "system:kube-proxy", groups: [] };

export function serviceAccountIdentity(namespace: string, name: string): IdentityName {
  return {
    name: `system:serviceaccount:${namespace}:${name}`,
    groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`],
  };
}

/** A controller acts under a service account of its own: "deployment-controller". What it may do is its ClusterRole system:controller:…. */
export function controllerIdentity(name: string): IdentityName {
  return serviceAccountIdentity("kube-system", name);
}

export function nodeIdentity(nodeName: string): IdentityName {
  return { name: `system:node:${nodeName}`, groups: ["system:nodes"] };
}
