/**
 * A write of somebody who acts only while leading says so, and the server refuses it if the lease is another's by then. So a leader that
 * was held up in the middle of sending (a frozen process, a slow network) changes nothing afterwards, whatever it believed when it sent.
 */

/** The header of HTTP requests. */
export const LEADERSHIP_HEADER = "k8ts-leadership";

export interface Leadership {
  /** Of the Lease. */
  readonly namespace: string;
  readonly name: string;
  /** Its `spec.holderIdentity`. */
  readonly holder: string;
}

export function formatLeadership({ namespace, name, holder }: Leadership): string {
  return [namespace, name, holder].map(encodeURIComponent).join("/");
}

/** Undefined if the text is not one that `formatLeadership` makes. */
export function parseLeadership(text: string): Leadership | undefined {
  try {
    const [namespace, name, holder, ...more] = text.split("/").map(decodeURIComponent);
    if (namespace === undefined || name === undefined || holder === undefined || more.length > 0) return undefined;
    return { namespace, name, holder };
  } catch {
    return undefined; // Not percent-encoded.
  }
}
