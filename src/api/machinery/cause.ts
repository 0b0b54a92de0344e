/**
 * Why a write was made: who decided it, looking at what, woken by which change. Every write of a controller carries its cause, and the
 * API server keeps those of the last writes, so that "why is this Pod here?" can be followed back to somebody's apply. In one process it
 * is handed over as it is and costs nothing; over HTTPS it is a header.
 */

/** The header of HTTP requests. */
export const CAUSE_HEADER = "k8ts-cause";

export interface Cause {
  /** Who decided: "deployment-controller". */
  readonly controller: string;
  /** What it looked at: "default/web". */
  readonly key: string;
  /** The resourceVersion of the change that made it look; absent if it was time that passed, or a start. */
  readonly revision?: string;
}

/** Each part is percent-encoded, since keys may have any letter in them and headers may not. */
export function formatCause({ controller, key, revision }: Cause): string {
  const parts = [`controller=${encodeURIComponent(controller)}`, `key=${encodeURIComponent(key)}`];
  if (revision !== undefined) parts.push(`revision=${encodeURIComponent(revision)}`);
  return parts.join(",");
}

/** Undefined if the text is not one that `formatCause` makes: headers come from anybody. */
export function parseCause(text: string): Cause | undefined {
  const found = /^controller=([^,]*),key=([^,]*)(?:,revision=([^,]*))?$/.exec(text);
  if (found === null) return undefined;
  try {
    const [controller = "", key = "", revision] = found.slice(1).map((part) => part && decodeURIComponent(part));
    return { controller, key, ...(revision === undefined ? {} : { revision }) };
  } catch {
    return undefined; // Not percent-encoded.
  }
}
