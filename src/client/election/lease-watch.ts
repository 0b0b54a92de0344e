/**
 * Notifies candidates when a Lease changes, so that a released Lease is acquired without waiting for the next poll. It may miss changes
 * while it cannot watch (no connection, no permission): candidates also poll, so that it is only an optimisation.
 */
import type { Lease } from "../../api/generated/coordination.k8s.io/v1.ts";
import { leases } from "../../api/coordination.k8s.io/v1/lease.ts";
import { onAbort } from "../../base/abort.ts";
import { Backoff } from "../../base/backoff.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import type { TransportEvent } from "../../api/machinery/transport.ts";
import type { Client } from "../client.ts";

/** Maximum delay between two attempts: permission to watch may be granted later. */
const RETRY_MAX_MS = 60_000;

export interface LeaseWatchOptions {
  readonly client: Client;
  readonly lease: { readonly namespace: string; readonly name: string };
  /** First delay between two attempts. */
  readonly retryMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  received(lease: Lease, is: "there" | "deleted"): void;
}

/** Ends when `signal` is aborted. */
export async function watchLease(options: LeaseWatchOptions, signal: AbortSignal): Promise<void> {
  const { clock, random, log, retryMs } = options;
  const backoff = new Backoff({ minMs: retryMs, maxMs: Math.max(retryMs, RETRY_MAX_MS), random });
  while (!signal.aborted) {
    try {
      await watchOnce(options, signal, () => backoff.reset());
    } catch (error) {
      if (!signal.aborted) log.debug("Cannot watch the lease", { error });
    }
    await clock.sleep(backoff.next(), signal).catch(() => undefined);
  }
}

/** Resolves when the watch has ended. */
async function watchOnce({ client, lease, received }: LeaseWatchOptions, signal: AbortSignal, works: () => void): Promise<void> {
  let onEnded = (): void => undefined;
  const ended = new Promise<void>((resolve) => (onEnded = resolve));
  const event = (recorded: TransportEvent): void => {
    if (recorded.type === "BOOKMARK" || recorded.type === "ERROR") return;
    works();
    received(recorded.object as Lease, recorded.type === "DELETED" ? "deleted" : "there");
  };
  const { namespace, name } = lease;
  // Without a resourceVersion the watch starts with the current state.
  const watch = await client.watch(leases, { namespace, fieldSelector: `metadata.name=${name}`, signal }, { event, ended: onEnded });
  const stopListening = onAbort(signal, () => watch.stop());
  if (signal.aborted) watch.stop();
  await ended;
  stopListening();
}
