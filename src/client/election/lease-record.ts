/** The election's record in a Lease, and the ordering of observations. Pure. */
import type { Lease, LeaseSpec } from "../../api/generated/coordination.k8s.io/v1.ts";
import { formatMicroTime } from "../../api/machinery/time.ts";

const SECOND_MS = 1_000;

export interface Claim {
  readonly identity: string;
  readonly leaseDurationMs: number;
  readonly nowMs: number;
}

/**
 * The Lease as its holder writes it. A renewal keeps acquireTime; acquiring it from another holder, or a released one, counts as a
 * transition; the first acquisition does not.
 */
export function claimedSpec(previous: LeaseSpec | undefined, { identity, leaseDurationMs, nowMs }: Claim): LeaseSpec {
  const now = formatMicroTime(nowMs);
  const isRenewal = previous !== undefined && holderOf(previous) === identity;
  const transitions = previous?.leaseTransitions ?? 0;
  return {
    holderIdentity: identity,
    // Rounded up: others must not assume that it expires before the holder does.
    leaseDurationSeconds: Math.ceil(leaseDurationMs / SECOND_MS),
    acquireTime: isRenewal ? (previous.acquireTime ?? now) : now,
    renewTime: now,
    leaseTransitions: previous === undefined || isRenewal ? transitions : transitions + 1,
  };
}

/**
 * The Lease as a stopping holder releases it, so that the next candidate acquires it at once. As upstream, down to the duration of one
 * second.
 */
export function releasedSpec(previous: LeaseSpec, nowMs: number): LeaseSpec {
  const now = formatMicroTime(nowMs);
  return {
    holderIdentity: "",
    leaseDurationSeconds: 1,
    acquireTime: now,
    renewTime: now,
    leaseTransitions: previous.leaseTransitions ?? 0,
  };
}

/** "": no holder. */
export function holderOf(spec: LeaseSpec | undefined): string {
  return spec?.holderIdentity ?? "";
}

/** Lease duration, counted from the last observed change. */
export function durationMsOf(spec: LeaseSpec | undefined, defaultMs: number): number {
  return spec?.leaseDurationSeconds === undefined ? defaultMs : spec.leaseDurationSeconds * SECOND_MS;
}

/** Whether `lease` is certainly not newer than `known`. Resource versions are numbers in practice; if not, nothing is certain. */
export function isOutdated(lease: Lease, known: Lease | undefined): boolean {
  const [version, other] = [lease, known].map((each) => each?.metadata.resourceVersion ?? "");
  if (version === undefined || other === undefined || !/^\d+$/.test(version) || !/^\d+$/.test(other)) return false;
  return BigInt(version) <= BigInt(other);
}
