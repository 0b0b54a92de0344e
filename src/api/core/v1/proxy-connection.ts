/** The subresource `proxy` of Pods, Services and Nodes: HTTP requests that are proxied, with any method and path suffix. */
import type { Subresource } from "../../machinery/resource.ts";

type Connection = Extract<Subresource, { readonly of: "connection" }>;

export function proxyConnection(kind: "NodeProxyOptions" | "PodProxyOptions" | "ServiceProxyOptions"): Connection {
  return {
    of: "connection",
    verbs: ["create", "delete", "get", "patch", "update"],
    options: { group: "", version: "v1", kind, schema: `io.k8s.api.core.v1.${kind}` },
    forwards: true,
  };
}
