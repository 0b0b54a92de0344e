/**
 * The ConfigMap kube-public/cluster-info, which says where the API server is, bears a signature of every bootstrap token that is for
 * signing: a machine that joins with such a token can trust it. Signatures of tokens that have ended or gone are taken away.
 * Not here: what is signed (apiserver/bootstrap/cluster-info.ts makes it).
 */
import { configMaps } from "../../api/core/v1/config-map.ts";
import { secrets } from "../../api/core/v1/secret.ts";
import { BOOTSTRAP_TOKEN_NAMESPACE, isBootstrapToken, signingTokenOf } from "../../api/core/v1/secret/bootstrap-token.ts";
import type { ConfigMap } from "../../api/generated/core/v1.ts";
import { deepEqual } from "../../base/deep.ts";
import { after, defineController, onChange, watch, type Outcome, type Pass } from "../runtime/controller.ts";
import { detachedSignature } from "./detached-signature.ts";

const CLUSTER_INFO = { namespace: "kube-public", name: "cluster-info" };
/** What is signed, and where the signatures stand: with the token's id after it. */
const KUBECONFIG = "kubeconfig";
const SIGNATURE_PREFIX = "jws-kubeconfig-";

/** There is one key: the ConfigMap. */
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
