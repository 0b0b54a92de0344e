/** What an election keeps in a Lease, and how an answer of the server is known to be newer than another. Pure. */
import type { Lease, LeaseSpec } from "../../api/generated/coordination.k8s.io/v1.ts";
import { formatMicroTime } from "../../api/machinery/time.ts";

const SECOND_MS = 1_000;

export interface Claim {
  readonly identity: string;
  readonly leaseDurationMs: number;
  readonly nowMs: number;
}

/**
 * The Lease as its holder writes it. Who goes on holding keeps since when he does; who takes it from another, or from nobody, counts as
 * one more transition; the first one ever is none.
 */
export function claimedSpec(previous: LeaseSpec | undefined, { identity, leaseDurationMs, nowMs }: Claim): LeaseSpec {
  const now = formatMicroTime(nowMs);
  const goesOn = previous !== undefined && holderOf(previous) === identity;
  const transitions = previous?.leaseTransitions ?? 0;
  return {
    holderIdentity: identity,
    // Up: others must not think that it ends before the holder does.
    leaseDurationSeconds: Math.ceil(leaseDurationMs / SECOND_MS),
    acquireTime: goesOn ? (previous.acquireTime ?? now) : now,
    renewTime: now,
    leaseTransitions: previous === undefined || goesOn ? transitions : transitions + 1,
  };
}

/** The Lease as its holder leaves it behind, so that the next takes it at once. As upstream's, down to the second that it must last. */
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

/** "": nobody. */
export function holderOf(spec: LeaseSpec | undefined): string {
  return spec?.holderIdentity ?? "";
}

/** How long it lasts from when it was last seen to change, as its holder has promised. */
export function durationMsOf(spec: LeaseSpec | undefined, defaultMs: number): number {
  return spec?.leaseDurationSeconds === undefined ? defaultMs : spec.leaseDurationSeconds * SECOND_MS;
}

/** Whether it is certain that `lease` is not newer than `known`. Versions are numbers, in practice; if not, nothing is certain. */
export function isOutdated(lease: Lease, known: Lease | undefined): boolean {
  const [version, other] = [lease, known].map((each) => each?.metadata.resourceVersion ?? "");
  if (version === undefined || other === undefined || !/^\d+$/.test(version) || !/^\d+$/.test(other)) return false;
  return BigInt(version) <= BigInt(other);
}
