/** What a driver may learn of the Pod: who it is (podInfoOnMount), and tokens of its service account (tokenRequests). Upstream's keys. */
import type { Pod } from "../../../api/generated/core/v1.ts";
import type { CSIDriver } from "../../../api/generated/storage.k8s.io/v1.ts";
import { decodeBase64Url } from "../../../api/machinery/codec/base64-url.ts";
import { formatTime } from "../../../api/machinery/time.ts";
import type { CsiMap } from "../../../csi/contract.ts";
import { VolumeError } from "../framework/volume-error.ts";
import type { VolumeNode } from "../framework/volume-plugin.ts";
import { PREFIX, type LifecycleMode } from "./csi-driver.ts";

export function podInfoOf({ metadata, spec }: Pod, mode: LifecycleMode): CsiMap {
  return {
    "csi.storage.k8s.io/pod.name": metadata.name,
    "csi.storage.k8s.io/pod.namespace": metadata.namespace ?? "",
    "csi.storage.k8s.io/pod.uid": metadata.uid ?? "",
    "csi.storage.k8s.io/serviceAccount.name": spec?.serviceAccountName ?? "",
    "csi.storage.k8s.io/ephemeral": String(mode === "Ephemeral"),
  };
}

/** One key with a JSON object of tokens by audience; empty if the driver wants none. */
export async function tokenContext(pod: Pod, driver: CSIDriver | undefined, node: VolumeNode, signal: AbortSignal): Promise<CsiMap> {
  const requests = driver?.spec.tokenRequests ?? [];
  if (requests.length === 0) return {};
  const tokens: Record<string, { readonly token: string; readonly expirationTimestamp: string }> = {};
  for (const { audience, expirationSeconds } of requests) {
    const wish = { ...(audience === "" ? {} : { audience }), ...(expirationSeconds === undefined ? {} : { expirationSeconds }) };
    const token = await node.tokens.token(pod, wish, signal).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      throw new VolumeError(`${PREFIX}mounter.SetUpAt failed to get service accoount token attributes: ${reason}`, { cause: error });
    });
    tokens[audience] = { token, expirationTimestamp: formatTime(expiryMsOf(token)) };
  }
  return { "csi.storage.k8s.io/serviceAccount.tokens": JSON.stringify(tokens) };
}

/** From the claim `exp` of a JSON web token, in seconds since the epoch. */
function expiryMsOf(token: string): number {
  const payload = decodeBase64Url(token.split(".")[1] ?? "");
  const { exp = 0 } = JSON.parse(payload === undefined || payload.length === 0 ? "{}" : new TextDecoder().decode(payload)) as {
    readonly exp?: number;
  };
  return exp * 1_000;
}
