/**
 * One candidate's view of the Lease, and the requests with which it is taken, renewed and given back. Only one of several candidates can
 * win a write, since each says of which version it is.
 *
 * Times of other machines are never looked at. What counts is when this one saw the Lease change, by its own clock that never jumps: a
 * holder whose Lease has not changed for as long as it promised to renew it has lost it.
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

/** `sinceMs`: by the monotonic clock, before the request was sent, so that nobody can have seen the write earlier. */
export type ClaimResult = { readonly isOurs: true; readonly sinceMs: number } | { readonly isOurs: false };

export class LeaseLock {
  readonly #options: LeaseLockOptions;
  /** As it was last seen; it stays when the Lease is deleted, since its holder may not know yet. */
  #lease: Lease | undefined;
  #isGone = false;
  #changedAtMs = 0;
  #isWriting = false;

  constructor(options: LeaseLockOptions) {
    this.#options = options;
  }

  /** As last seen. */
  get lease(): Lease | undefined {
    return this.#lease;
  }

  /** Who was last seen to hold it; "" if nobody does, or it was never seen. */
  get holder(): string {
    return holderOf(this.#lease?.spec);
  }

  /** Whether it may become ours at this moment, without our knowing yet. */
  get isWriting(): boolean {
    return this.#isWriting;
  }

  /** In how many milliseconds it may be taken, if nothing changes until then. */
  get freeInMs(): number {
    const { identity, leaseDurationMs, clock } = this.#options;
    if (this.holder === "" || this.holder === identity) return 0;
    return Math.max(0, this.#changedAtMs + durationMsOf(this.#lease?.spec, leaseDurationMs) - clock.monotonic());
  }

  /** A watch has told of it, perhaps late. An answer of the server itself is always believed: it may have been restored from a backup. */
  hear(lease: Lease, is: "there" | "deleted"): void {
    if (isOutdated(lease, this.#lease)) return;
    if (is === "there") this.#observe(lease);
    else this.#observeGone();
  }

  #observe(lease: Lease): void {
    // Labels of others are no sign of life of the holder.
    if (this.#isGone || !deepEqual(lease.spec, this.#lease?.spec)) this.#changedAtMs = this.#options.clock.monotonic();
    this.#lease = lease;
    this.#isGone = false;
  }

  /**
   * The Lease was deleted. Whoever held it may go on until it should have been renewed, so candidates who know of him wait, and he makes
   * it again. (Upstream's take it at once, and for a moment there are two.)
   */
  #observeGone(): void {
    if (!this.#isGone) this.#changedAtMs = this.#options.clock.monotonic();
    this.#isGone = true;
  }

  /**
   * Takes or renews it, or finds that it is another's. Rejects with a StatusError if neither is known: on a Conflict somebody else was
   * quicker, and one looks again later.
   */
  async claim(signal: AbortSignal): Promise<ClaimResult> {
    const { identity } = this.#options;
    const wasOurs = this.holder === identity;
    if (wasOurs && !this.#isGone) {
      const renewed = await this.#renewAsKnown(signal);
      if (renewed !== undefined) return renewed;
    }
    await this.#look(signal);
    signal.throwIfAborted();
    // Whatever happened to it in between, it was not ours all the time.
    if (wasOurs && this.holder !== identity) return { isOurs: false };
    if (this.freeInMs > 0) return { isOurs: false };
    return this.#write(this.#isGone ? undefined : this.#lease, signal);
  }

  /** Gives it back if it is ours. */
  async release(signal: AbortSignal): Promise<void> {
    await this.#look(signal);
    const { client, identity, clock } = this.#options;
    if (this.#lease === undefined || this.#isGone || this.holder !== identity) return;
    const spec = releasedSpec(this.#lease.spec ?? {}, clock.now());
    this.#observe(await client.update(leases, { ...this.#lease, spec }, { signal }));
  }

  /** Without looking first: in most cases nobody else has written. Undefined: somebody has. */
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
      this.#observeGone();
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
