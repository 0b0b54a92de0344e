/** Pod subresources beyond the resource definition: binding and eviction. */
import type { ServerContext } from "../../framework/server-context.ts";
import type { ResourceExtension } from "../../framework/extension.ts";
import { bindPod } from "../../shared/bind-pod.ts";
import { evict } from "./eviction.ts";

export function podExtension(server: ServerContext): ResourceExtension {
  return {
    group: "",
    plural: "pods",
    actions: {
      binding: (call) => bindPod(server, call),
      eviction: (call) => evict(server, call),
    },
  };
}
