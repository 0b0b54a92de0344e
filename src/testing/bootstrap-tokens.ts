/** Secrets with bootstrap tokens for tests. */
import type { Secret } from "../api/generated/core/v1.ts";
import { encodeBase64 } from "../api/machinery/codec/base64.ts";

/** Its secret half is 0123456789abcdef, unless `values` says otherwise. */
export function bootstrapTokenSecret(
  id: string,
  values: Readonly<Record<string, string>>,
  metadata: { readonly name?: string; readonly namespace?: string } = {},
): Secret {
  const all = { "token-id": id, "token-secret": "0123456789abcdef", ...values };
  const data = Object.entries(all).map(([key, value]) => [key, encodeBase64(new TextEncoder().encode(value))] as const);
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace: "kube-system", name: `bootstrap-token-${id}`, ...metadata },
    type: "bootstrap.kubernetes.io/token",
    data: Object.fromEntries(data),
  };
}
