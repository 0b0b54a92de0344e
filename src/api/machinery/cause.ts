/**
 * Why a write was made: who decided it, about which object, triggered by which change. Every write of a component carries its cause, and the
 * API server keeps those of the last writes, so that "why is this Pod here?" can be followed back to a user's apply. In one process the
 * cause is passed by reference and costs nothing; over HTTPS it is a header.
 */
import { groupResourceOf, type KubeObject } from "./object.ts";

/** The header of HTTP requests. */
export const CAUSE_HEADER = "k8ts-cause";

export interface Cause {
  /** The component that decided, by the name that its Events have: "deployment-controller", "kube-scheduler", "kubelet". */
  readonly controller: string;
  /** The object that it reconciled: "default/web". */
  readonly key: string;
  /** In one word: "Updated", "Deleted" or "Timer" of a controller; "Scheduled", "Preempting" of the scheduler. */
  readonly reason?: string;
  /** The object whose change triggered it, if it is known: "pods default/web-1", "deployments.apps default/web". */
  readonly object?: string;
  /** The resourceVersion of that change; absent if no change triggered it, as at the start of a process. */
  readonly revision?: string;
}

/** In the order of the header. */
const OPTIONAL = ["reason", "object", "revision"] as const;

export interface Decision {
  readonly controller: string;
  readonly reason: string;
  readonly kind: { readonly plural: string; readonly storage: { readonly group: string } };
  /** As it was when the component decided: the revision is the object's. */
  readonly object: KubeObject;
}

/** The cause of a write that a component decides by one version of an object: `causedBy({ controller: "kubelet", kind: pods, ... })`. */
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

/** Each part is percent-encoded: keys may have any letter in them, headers may not. */
export function formatCause(cause: Cause): string {
  const parts = [`controller=${encodeURIComponent(cause.controller)}`, `key=${encodeURIComponent(cause.key)}`];
  for (const name of OPTIONAL) {
    const value = cause[name];
    if (value !== undefined) parts.push(`${name}=${encodeURIComponent(value)}`);
  }
  return parts.join(",");
}

/** Undefined if the text is not one that `formatCause` makes: any client can send the header. */
export function parseCause(text: string): Cause | undefined {
  const found = /^controller=([^,]*),key=([^,]*)(?:,reason=([^,]*))?(?:,object=([^,]*))?(?:,revision=([^,]*))?$/.exec(text);
  if (found === null) return undefined;
  try {
    const [controller = "", key = "", ...optional] = found.slice(1).map((part) => part && decodeURIComponent(part));
    const known = OPTIONAL.flatMap((name, index) => (optional[index] === undefined ? [] : [[name, optional[index]] as const]));
    return { controller, key, ...Object.fromEntries(known) };
  } catch {
    return undefined; // Not percent-encoded.
  }
}
