/**
 * Keeps the signatures of the ConfigMap kube-public/cluster-info, which contains the API server's address: one per bootstrap token with
 * signing enabled, so that a machine that joins with such a token can trust it. Signatures of expired or deleted tokens are removed. Not
 * here: the signed content (apiserver/bootstrap/cluster-info.ts creates it).
 */
import { configMaps } from "../../api/core/v1/config-map.ts";
import { secrets } from "../../api/core/v1/secret.ts";
import { BOOTSTRAP_TOKEN_NAMESPACE, isBootstrapToken, signingTokenOf } from "../../api/core/v1/secret/bootstrap-token.ts";
import type { ConfigMap } from "../../api/generated/core/v1.ts";
import { deepEqual } from "../../base/deep.ts";
import { after, defineController, onChange, watch, type Outcome, type Pass } from "../runtime/controller.ts";
import { detachedSignature } from "../../api/core/v1/secret/detached-signature.ts";

const CLUSTER_INFO = { namespace: "kube-public", name: "cluster-info" };
/** The signed entry, and the prefix of the signatures: followed by the token's id. */
const KUBECONFIG = "kubeconfig";
const SIGNATURE_PREFIX = "jws-kubeconfig-";

/** There is a single key: the ConfigMap. */
export const bootstrapSignerController = defineController({
  name: "bootstrap-signer-controller",
  aliases: ["bootstrapsigner"],
  account: "bootstrap-signer",
  onlyIfNamed: true,
  rules: [{ apiGroups: [""], resources: ["configmaps"], resourceNames: [CLUSTER_INFO.name], verbs: ["update"] }],
  watches: [
    watch(configMaps, ({ object }) => (isClusterInfo(object) ? [CLUSTER_INFO] : [])),
    watch(secrets, ({ object }) => (isBootstrapToken(object) ? [CLUSTER_INFO] : [])),
  ],
  concurrency: 1,
  reconcile: (_, pass) => sign(pass),
});

function isClusterInfo({ metadata: { namespace, name } }: ConfigMap): boolean {
  return namespace === CLUSTER_INFO.namespace && name === CLUSTER_INFO.name;
}

async function sign({ read, write, clock }: Pass): Promise<Outcome> {
  const found = read.get(configMaps, CLUSTER_INFO);
  const kubeconfig = found?.data?.[KUBECONFIG];
  if (found === undefined || kubeconfig === undefined) return onChange;
  const nowMs = clock.now();
  const tokens = read.list(secrets, BOOTSTRAP_TOKEN_NAMESPACE).flatMap((secret) => signingTokenOf(secret, nowMs) ?? []);
  const others = Object.entries(found.data ?? {}).filter(([key]) => !key.startsWith(SIGNATURE_PREFIX));
  const signatures = tokens.map((token) => [`${SIGNATURE_PREFIX}${token.id}`, detachedSignature(kubeconfig, token)] as const);
  const data = Object.fromEntries([...others, ...signatures]);
  if (!deepEqual(data, found.data)) await write.update(configMaps, { ...found, data });
  const firstEndMs = Math.min(...tokens.map(({ endMs = Infinity }) => endMs));
  return firstEndMs === Infinity ? onChange : after(firstEndMs - nowMs);
}
