/** Pods must not share the node's network, PID or IPC namespace. */
import type { Check, CheckedPod, Violation } from "../check.ts";

export const hostNamespaces: Check = { id: "hostNamespaces", level: "baseline", versions: [{ since: 0, judge }] };

const FIELDS = ["hostNetwork", "hostPID", "hostIPC"] as const;

function judge({ spec }: CheckedPod): Violation | undefined {
  const shared = FIELDS.filter((field) => spec[field] === true);
  return shared.length === 0 ? undefined : { reason: "host namespaces", detail: shared.map((field) => `${field}=true`).join(", ") };
}
