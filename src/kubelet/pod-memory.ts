/**
 * What the kubelet remembers about a Pod between two looks and can be had from nowhere else: what failed, and when it may be tried again.
 * When a kubelet starts anew it takes what it can from what the one before it told (recall.ts).
 */
import { BACK_OFF_MIN_MS, grownBackOff, type BackOff } from "./back-off.ts";

/** Why something could not be started, and from when on it may be tried again. */
export interface StartFailure {
  readonly reason: string;
  readonly message: string;
  readonly retryAtMs: number;
}

export interface PullFailure {
  readonly backOff: BackOff;
  /** "ErrImagePull: no such image". */
  readonly error: string;
  /** What the container's state says until the next look. */
  readonly message: string;
}

export interface PodMemory {
  /** How long a container that ends has to wait, by its name. */
  readonly crashes: ReadonlyMap<string, BackOff>;
  /** Containers that could not be started, by name. */
  readonly failures: ReadonlyMap<string, StartFailure>;
  /** Images that could not be had. */
  readonly pulls: ReadonlyMap<string, PullFailure>;
  /** Containers of which a start is under way, by name. */
  readonly starting: ReadonlySet<string>;
  readonly sandboxRetryAtMs?: number | undefined;
}

/** The memory of one Pod's worker, while it lives. */
export class OwnMemory implements PodMemory {
  readonly crashes = new Map<string, BackOff>();
  readonly failures = new Map<string, StartFailure>();
  readonly pulls = new Map<string, PullFailure>();
  readonly starting = new Set<string>();
  sandboxRetryAtMs: number | undefined;

  /** It ended and is started once more: the next time it has to wait longer. */
  restarts(name: string, { endedAtMs, nowMs }: { readonly endedAtMs: number; readonly nowMs: number }): void {
    this.crashes.set(name, grownBackOff(this.crashes.get(name), { eventMs: endedAtMs, nowMs }));
  }

  started(name: string): void {
    this.failures.delete(name);
  }

  couldNotStart(name: string, { reason, message }: Pick<StartFailure, "reason" | "message">, nowMs: number): void {
    this.failures.set(name, { reason, message, retryAtMs: nowMs + BACK_OFF_MIN_MS });
  }

  couldNotPull(image: string, { reason, message }: Pick<StartFailure, "reason" | "message">, nowMs: number): void {
    const backOff = grownBackOff(this.pulls.get(image)?.backOff, { eventMs: nowMs, nowMs });
    this.pulls.set(image, { backOff, error: `${reason}: ${message}`, message });
  }

  couldNotRunSandbox(nowMs: number): void {
    this.sandboxRetryAtMs = nowMs + BACK_OFF_MIN_MS;
  }
}
