/**
 * The image pull back-off: how long a container waits after a failed pull, and with which reason. The first status shows the error
 * (ErrImagePull …), later ones ImagePullBackOff, as upstream. Pure. Not here: the delays (kubelet/pod/containers/back-off.ts), pulling
 * (ensure-image.ts).
 */
import { BACK_OFF_MIN_MS, type BackOff } from "../pod/containers/back-off.ts";

export interface PullFailure {
  readonly backOff: BackOff;
  /** "ErrImagePull: no such image". */
  readonly error: string;
  /** Message of the container's waiting state until the next sync. */
  readonly message: string;
}

export interface PullWait {
  /** The container's waiting state. */
  readonly waiting: { readonly reason: string; readonly message: string };
  /** When to sync again, in milliseconds since the epoch. */
  readonly untilMs: number;
}

/** Undefined if the image may be pulled now. */
export function pullBackOff(image: string, { backOff, error, message }: PullFailure, nowMs: number): PullWait | undefined {
  const retryAtMs = backOff.updatedAtMs + backOff.delayMs;
  if (retryAtMs <= nowMs) return undefined;
  const secondStatusAtMs = backOff.updatedAtMs + BACK_OFF_MIN_MS;
  if (nowMs >= secondStatusAtMs) {
    const waiting = { reason: "ImagePullBackOff", message: `Back-off pulling image "${image}": ${error}` };
    return { waiting, untilMs: retryAtMs };
  }
  const reason = error.slice(0, error.indexOf(":"));
  return { waiting: { reason, message }, untilMs: Math.min(secondStatusAtMs, retryAtMs) };
}

/** The same for the image of a volume. What was not pulled keeps its reason: there is nothing to back off from. */
export function volumeImageBackOff(reference: string, failure: PullFailure, nowMs: number): PullWait | undefined {
  const wait = pullBackOff(reference, failure, nowMs);
  if (wait === undefined || failure.error.startsWith("ErrImagePull:")) return wait;
  const reason = failure.error.slice(0, failure.error.indexOf(":"));
  return { waiting: { reason, message: failure.message }, untilMs: wait.untilMs };
}
