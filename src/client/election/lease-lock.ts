/**
 * One candidate's view of the Lease, and the requests that acquire, renew and release it. Of several candidates only one can win a write,
 * since each write carries the resourceVersion.
 *
 * Timestamps of other machines are ignored. What counts is when this candidate observed the Lease change, by its own monotonic clock: a
 * holder whose Lease has not changed for the lease duration has lost it.
 */
import type { Lease } from "../../api/generated/coordination.k8s.io/v1.ts";
import { leases } from "../../api/coordination.k8s.io/v1/lease.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import type { Clock } from "../../base/clock.ts";
import { deepEqual } from "../../base/deep.ts";
import type { Client, Draft } from "../client.ts";
import { claimedSpec, durationMsOf, holderOf, isOutdated, releasedSpec } from "./lease-record.ts";

export interface LeaseLockOptions {
  readonly client: Client;
  readonly lease: { readonly namespace: string; readonly name: string };
  readonly identity: string;
  readonly leaseDurationMs: number;
  readonly clock: Clock;
}

/** `sinceMs`: monotonic time before the request was sent, so that no candidate can have observed the write earlier. */
export type ClaimResult = { readonly isOurs: true; readonly sinceMs: number } | { readonly isOurs: false };

export class LeaseLock {
  readonly #options: LeaseLockOptions;
  /** As last observed; kept when the Lease is deleted, since its holder may not know yet. */
  #lease: Lease | undefined;
  #isDeleted = false;
  #changedAtMs = 0;
  #isWriting = false;

  constructor(options: LeaseLockOptions) {
    this.#options = options;
  }

  /** As last observed. */
  get lease(): Lease | undefined {
    return this.#lease;
  }

  /** The last observed holder; "" if none exists or it was never observed. */
  get holder(): string {
    return holderOf(this.#lease?.spec);
  }

  /** Whether it may become ours right now without our knowing yet. */
  get isWriting(): boolean {
    return this.#isWriting;
  }

  /** Milliseconds until it may be acquired, if it does not change until then. */
  get freeInMs(): number {
    const { identity, leaseDurationMs, clock } = this.#options;
    if (this.holder === "" || this.holder === identity) return 0;
    return Math.max(0, this.#changedAtMs + durationMsOf(this.#lease?.spec, leaseDurationMs) - clock.monotonic());
  }

  /** Observed by a watch, possibly late. A direct response of the server is always trusted: it may have been restored from a backup. */
  hear(lease: Lease, is: "there" | "deleted"): void {
    if (isOutdated(lease, this.#lease)) return;
    if (is === "there") this.#observe(lease);
    else this.#observeDeletion();
  }

  #observe(lease: Lease): void {
    // Foreign label changes do not count as renewal by the holder.
    if (this.#isDeleted || !deepEqual(lease.spec, this.#lease?.spec)) this.#changedAtMs = this.#options.clock.monotonic();
    this.#lease = lease;
    this.#isDeleted = false;
  }

  /**
   * The Lease was deleted. Its holder may keep leading until the renew deadline, so candidates that know of it wait, and the holder creates
   * it again. (Upstream's candidates take it at once, and for a short time there are two leaders.)
   */
  #observeDeletion(): void {
    if (!this.#isDeleted) this.#changedAtMs = this.#options.clock.monotonic();
    this.#isDeleted = true;
  }

  /**
   * Acquires or renews it, or finds that another candidate holds it. Rejects with a StatusError if neither is known: on a Conflict another
   * write was faster; retry later.
   */
  async claim(signal: AbortSignal): Promise<ClaimResult> {
    const { identity } = this.#options;
    const wasOurs = this.holder === identity;
    if (wasOurs && !this.#isDeleted) {
      const renewed = await this.#renewAsKnown(signal);
      if (renewed !== undefined) return renewed;
    }
    await this.#look(signal);
    signal.throwIfAborted();
    // Whatever happened in between, it was not held all the time.
    if (wasOurs && this.holder !== identity) return { isOurs: false };
    if (this.freeInMs > 0) return { isOurs: false };
    return this.#write(this.#isDeleted ? undefined : this.#lease, signal);
  }

  /** Releases it if held. */
  async release(signal: AbortSignal): Promise<void> {
    await this.#look(signal);
    const { client, identity, clock } = this.#options;
    if (this.#lease === undefined || this.#isDeleted || this.holder !== identity) return;
    const spec = releasedSpec(this.#lease.spec ?? {}, clock.now());
    this.#observe(await client.update(leases, { ...this.#lease, spec }, { signal }));
  }

  /** Without reading first: usually there was no foreign write. Undefined: there was. */
  async #renewAsKnown(signal: AbortSignal): Promise<ClaimResult | undefined> {
    try {
      return await this.#write(this.#lease, signal);
    } catch (error) {
      if (isReason(error, "Conflict") || isReason(error, "NotFound")) return undefined;
      throw error;
    }
  }

  async #look(signal: AbortSignal): Promise<void> {
    const { client, lease } = this.#options;
    try {
      this.#observe(await client.get(leases, lease, { signal }));
    } catch (error) {
      if (!isReason(error, "NotFound")) throw error;
      this.#observeDeletion();
    }
  }

  async #write(previous: Lease | undefined, signal: AbortSignal): Promise<ClaimResult> {
    const { client, lease: metadata, clock } = this.#options;
    const sinceMs = clock.monotonic();
    const spec = claimedSpec(this.#lease?.spec, { ...this.#options, nowMs: clock.now() });
    const draft: Draft<Lease> = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata, spec };
    this.#isWriting = true;
    try {
      const written =
        previous === undefined ? client.create(leases, draft, { signal }) : client.update(leases, { ...previous, spec }, { signal });
      this.#observe(await written);
    } finally {
      this.#isWriting = false;
    }
    return { isOurs: true, sinceMs };
  }
}
