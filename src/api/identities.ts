/**
 * User names and groups of the cluster's components, as upstream's roles are bound to them. Each component has its own, in this process or
 * in another: certificates are issued for these names, and in-process transports carry them.
 */

export interface IdentityName {
  readonly name: string;
  readonly groups: readonly string[];
}

/** The cluster administrators: allowed everything. */
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

/**
 * A controller acts under a service account of its own: "deployment-controller". Its permissions are in the ClusterRole
 * system:controller:…. The exception is the controller of service account tokens, which is the controller manager itself.
 */
export function controllerIdentity(name: string): IdentityName {
  if (name === KUBE_CONTROLLER_MANAGER.name) return KUBE_CONTROLLER_MANAGER;
  return serviceAccountIdentity("kube-system", name);
}

/** The ingress controller's service account. */
export const INGRESS_CONTROLLER: IdentityName = serviceAccountIdentity("kube-system", "k8ts-ingress");

export function nodeIdentity(nodeName: string): IdentityName {
  return { name: `system:node:${nodeName}`, groups: ["system:nodes"] };
}
