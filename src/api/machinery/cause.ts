/**
 * The cause of a write: which component decided it, about which object, triggered by which change. Every write of a component carries its
 * cause, and the API server keeps those of the last writes, so that "why is this Pod here?" can be traced back to a user's apply. In one
 * process the cause is passed by reference and costs nothing; over HTTPS it is a header.
 */
import { groupResourceOf, type KubeObject } from "./object.ts";

/** Name of the HTTP request header. */
export const CAUSE_HEADER = "k8ts-cause";

export type Cause = {
  /** The deciding component, by the name in its Events: "deployment-controller", "kube-scheduler", "kubelet". */
  readonly controller: string;
  /** The reconciled object: "default/web". */
  readonly key: string;
  /** Reason in one word: "Updated", "Deleted" or "Timer" of a controller; "Scheduled", "Preempting" of the scheduler. */
  readonly reason?: string;
  /** The object whose change triggered the write, if known: "pods default/web-1", "deployments.apps default/web". */
  readonly object?: string;
  /** The resourceVersion of that change; absent if no change triggered the write, as at process start. */
  readonly revision?: string;
};

/** Members in the order of the header. */
const OPTIONAL = ["reason", "object", "revision"] as const;

export interface Decision {
  readonly controller: string;
  readonly reason: string;
  readonly kind: { readonly plural: string; readonly storage: { readonly group: string } };
  /** The object as the component read it when it decided; its resourceVersion becomes the revision. */
  readonly object: KubeObject;
}

/**
 * Returns the cause of a write that a component decides from one version of an object: `causedBy({ controller: "kubelet", kind: pods, ...
 * })`.
 */
export function causedBy({ controller, reason, kind, object }: Decision): Cause {
  const { namespace, name, resourceVersion } = object.metadata;
  const key = namespace === undefined || namespace === "" ? name : `${namespace}/${name}`;
  return {
    controller,
    key,
    reason,
    object: `${groupResourceOf(kind.storage.group, kind.plural)} ${key}`,
    ...(resourceVersion === undefined ? {} : { revision: resourceVersion }),
  };
}

/** Formats the header. Each part is percent-encoded: keys may have any character, headers may not. */
export function formatCause(cause: Cause): string {
  const parts = [`controller=${encodeURIComponent(cause.controller)}`, `key=${encodeURIComponent(cause.key)}`];
  for (const name of OPTIONAL) {
    const value = cause[name];
    if (value !== undefined) parts.push(`${name}=${encodeURIComponent(value)}`);
  }
  return parts.join(",");
}

/** Parses the header; undefined if `formatCause` did not produce the text: any client can send the header. */
export function parseCause(text: string): Cause | undefined {
  const found = /^controller=([^,]*),key=([^,]*)(?:,reason=([^,]*))?(?:,object=([^,]*))?(?:,revision=([^,]*))?$/.exec(text);
  if (found === null) return undefined;
  try {
    const [controller = "", key = "", ...optional] = found.slice(1).map((part) => part && decodeURIComponent(part));
    const known = OPTIONAL.flatMap((name, index) => (optional[index] === undefined ? [] : [[name, optional[index]] as const]));
    return { controller, key, ...Object.fromEntries(known) };
  } catch {
    return undefined; // Malformed percent-encoding.
  }
}
