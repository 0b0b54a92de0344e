/**
 * The leaf certificates of a cluster by file name, as kubeadm names them. User names, and so permissions, of components are in
 * api/identities.ts.
 */
import { ADMINISTRATOR, KUBE_CONTROLLER_MANAGER, KUBE_PROXY, KUBE_SCHEDULER, type IdentityName } from "../api/identities.ts";
import type { Subject } from "../api/machinery/x509/subject.ts";

export type AuthorityName = "ca" | "front-proxy-ca";

/** Common names of kubeadm. */
export const AUTHORITIES: Readonly<Record<AuthorityName, { readonly commonName: string }>> = {
  ca: { commonName: "kubernetes" },
  "front-proxy-ca": { commonName: "front-proxy-ca" },
};

export interface LeafKind {
  readonly authority: AuthorityName;
  readonly subject: Subject;
  readonly purpose: "server" | "client";
  /** True if it gets a kubeconfig. */
  readonly hasKubeconfig?: true;
}

function clientOf({ name, groups }: IdentityName): LeafKind {
  return { authority: "ca", subject: { commonName: name, organizations: groups }, purpose: "client" };
}

export const LEAVES = {
  apiserver: { authority: "ca", subject: { commonName: "kube-apiserver", organizations: [] }, purpose: "server" },
  // kubeadm binds a group of its own to cluster-admin; that binding does not exist here.
  "apiserver-kubelet-client": clientOf({ name: "kube-apiserver-kubelet-client", groups: ["system:masters"] }),
  "front-proxy-client": {
    authority: "front-proxy-ca",
    subject: { commonName: "front-proxy-client", organizations: [] },
    purpose: "client",
  },
  admin: clientOf(ADMINISTRATOR),
  "controller-manager": { ...clientOf(KUBE_CONTROLLER_MANAGER), hasKubeconfig: true },
  scheduler: { ...clientOf(KUBE_SCHEDULER), hasKubeconfig: true },
  "kube-proxy": { ...clientOf(KUBE_PROXY), hasKubeconfig: true },
} as const satisfies Record<string, LeafKind>;

export type LeafName = keyof typeof LEAVES;

export const LEAF_NAMES = Object.keys(LEAVES) as LeafName[];

/** Those with a kubeconfig of their own. The administrator's is the cluster's. */
export const COMPONENTS = LEAF_NAMES.filter((name) => (LEAVES[name] as LeafKind).hasKubeconfig === true);
