/**
 * The ConfigMap kube-public/cluster-info: address and CA certificate of the server, for joining machines without credentials; so everyone
 * may read it. Role and binding have kubeadm's names.
 */
import type { ConfigMap } from "../../api/generated/core/v1.ts";
import type { Role, RoleBinding } from "../../api/generated/rbac.authorization.k8s.io/v1.ts";
import { encodeBase64 } from "../../api/machinery/codec/base64.ts";
import { parseIp } from "../../api/machinery/ip/ip-address.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import type { BootstrapContext, BootstrapStep } from "./bootstrap.ts";
import type { Advertised } from "./kubernetes-endpoints.ts";
import { CORE, AUTHENTICATED, UNAUTHENTICATED, may, RBAC } from "./policy/grants.ts";

const NAMESPACE = "kube-public";
const NAME = "cluster-info";
const ROLE_NAME = "kubeadm:bootstrap-signer-clusterinfo";

const CONFIG_MAPS = { group: "", version: "v1", plural: "configmaps", namespace: NAMESPACE };
const ROLES = { group: RBAC, version: "v1", plural: "roles", namespace: NAMESPACE };
const ROLE_BINDINGS = { ...ROLES, plural: "rolebindings" };

const ROLE: Role = {
  apiVersion: `${RBAC}/v1`,
  kind: "Role",
  metadata: { name: ROLE_NAME, namespace: NAMESPACE },
  rules: [may("get").ofNamed(CORE, "configmaps", NAME)],
};

const ROLE_BINDING: RoleBinding = {
  apiVersion: `${RBAC}/v1`,
  kind: "RoleBinding",
  metadata: { name: ROLE_NAME, namespace: NAMESPACE },
  roleRef: { apiGroup: RBAC, kind: "Role", name: ROLE_NAME },
  subjects: [UNAUTHENTICATED, AUTHENTICATED],
};

/** Existing ones are not changed: an administrator can remove the subjects to keep the cluster private. */
export const clusterInfoAccess: BootstrapStep = {
  async make({ requests }) {
    await requests.make(ROLES, ROLE);
    await requests.make(ROLE_BINDINGS, ROLE_BINDING);
  },
  keeps: [],
};

/** Created once the server's address is known. Without a CA a client could verify nothing. */
export function clusterInfo(self: Advertised): BootstrapStep {
  return { make: (context) => makeInfo(context, self), keeps: [{ ...CONFIG_MAPS, name: NAME }] };
}

async function makeInfo({ server, requests }: BootstrapContext, self: Advertised): Promise<void> {
  const { serverAuthority } = server.identity;
  if (serverAuthority === undefined) return;
  const authority = encodeBase64(new TextEncoder().encode(serverAuthority));
  const kubeconfig = kubeconfigOf(self, authority);
  const wanted: ConfigMap = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: NAME, namespace: NAMESPACE }, data: { kubeconfig } };
  const found = (await requests.make(CONFIG_MAPS, wanted)).object as ConfigMap;
  if (isGood(found.data?.["kubeconfig"], kubeconfig, { authority, shared: server.store.capabilities.shared })) return;
  await requests.put(CONFIG_MAPS, { ...found, data: { ...found.data, kubeconfig } } as KubeObject);
}

/** Several servers have different addresses; any of them will do. */
function isGood(
  found: string | undefined,
  wanted: string,
  { authority, shared }: { readonly authority: string; readonly shared: boolean },
): boolean {
  return found === wanted || (shared && found?.includes(authority) === true);
}

/** A kubeconfig with one unnamed cluster and no user. */
function kubeconfigOf({ address, port, url }: Advertised, authority: string): string {
  const host = parseIp(address)?.family === 6 ? `[${address}]` : address;
  const lines = [
    "apiVersion: v1",
    "clusters:",
    "- cluster:",
    `    certificate-authority-data: ${authority}`,
    `    server: ${url ?? `https://${host}:${port}`}`,
    '  name: ""',
    "contexts: null",
    'current-context: ""',
    "kind: Config",
    "users: null",
    "",
  ];
  return lines.join("\n");
}
