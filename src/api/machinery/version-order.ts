/** The order of API versions, in discovery and wherever the preferred version is needed. */

/** v2 before v1 before v2beta1 before v1beta2 before v1alpha1; non-Kubernetes versions come last, alphabetically. */
export function compareVersions(a: string, b: string): number {
  const [one, other] = [rankOf(a), rankOf(b)];
  if (one === undefined || other === undefined) return Number(one === undefined) - Number(other === undefined) || (a < b ? -1 : 1);
  return other.stability - one.stability || other.major - one.major || other.minor - one.minor;
}

const STABILITIES = ["alpha", "beta", undefined];

function rankOf(version: string): { readonly stability: number; readonly major: number; readonly minor: number } | undefined {
  const match = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/.exec(version);
  if (match === null) return undefined;
  return { stability: STABILITIES.indexOf(match[2]), major: Number(match[1]), minor: Number(match[3] ?? 0) };
}
