/**
 * The fencing token of leader-elected components. A write carries the Lease under which the component leads, and the API server rejects the
 * write if another holder has the Lease by then. So a leader that was delayed while sending (a frozen process, a slow network) changes
 * nothing afterwards.
 */

/** Name of the HTTP request header. */
export const LEADERSHIP_HEADER = "k8ts-leadership";

export interface Leadership {
  /** Namespace and name of the Lease. */
  readonly namespace: string;
  readonly name: string;
  /** `spec.holderIdentity` of the Lease. */
  readonly holder: string;
}

export function formatLeadership({ namespace, name, holder }: Leadership): string {
  return [namespace, name, holder].map(encodeURIComponent).join("/");
}

/** Undefined if `formatLeadership` did not produce the text. */
export function parseLeadership(text: string): Leadership | undefined {
  try {
    const [namespace, name, holder, ...more] = text.split("/").map(decodeURIComponent);
    if (namespace === undefined || name === undefined || holder === undefined || more.length > 0) return undefined;
    return { namespace, name, holder };
  } catch {
    return undefined; // Malformed percent-encoding.
  }
}
