/**
 * Work queue of Pods whose volumes need a refresh: requests run at once, those of one Pod are merged, and failures are retried with
 * backoff.
 */
import type { Clock } from "../../../base/clock.ts";
import type { Logger } from "../../../base/logger.ts";
import { perKeyExponential } from "../../../base/rate-limiter.ts";
import { WorkQueue } from "../../../base/work-queue.ts";
import { isMissingSource } from "../../volumes/framework/volume-error.ts";

/** Upstream's backoff for volumes that cannot be mounted. */
const RETRY_DELAY = { minMs: 500, maxMs: 122_000 };

/** Concurrent Pods: mostly waiting for the disk. */
const WORKERS = 4;

export interface Updates extends AsyncDisposable {
  want(podUid: string): void;
  /** Not retried. */
  forget(podUid: string): void;
}

/**
 * Failures for a missing source before it is logged, once. A deleted namespace loses its ConfigMaps before its Pods are terminating; some 3
 * s later they are.
 */
const MISSING_ATTEMPTS = 3;

export interface UpdatesOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Does nothing for a Pod that is deleted or terminating. */
  update(podUid: string): Promise<void>;
  /** "namespace/name", for the log. */
  nameOf(podUid: string): string;
}

export function startUpdates({ clock, log, update, nameOf }: UpdatesOptions): Updates {
  const queue = new WorkQueue<string>({ clock, rateLimiter: perKeyExponential(RETRY_DELAY) });
  /** Failures for a missing source, by Pod uid. */
  const missing = new Map<string, number>();
  const failed = (podUid: string, error: unknown): void => {
    const attempts = isMissingSource(error) ? (missing.get(podUid) ?? 0) + 1 : MISSING_ATTEMPTS;
    missing.set(podUid, attempts);
    const level = attempts === MISSING_ATTEMPTS ? "warn" : "debug";
    log[level]("Cannot update the volumes of a Pod; retrying", { pod: nameOf(podUid), podUid, error });
  };
  const work = async (): Promise<void> => {
    for (let podUid = await queue.take(); podUid !== undefined; podUid = await queue.take()) {
      try {
        await update(podUid);
        missing.delete(podUid);
        queue.forget(podUid);
      } catch (error) {
        failed(podUid, error);
        queue.addRateLimited(podUid);
      } finally {
        queue.done(podUid);
      }
    }
  };
  const workers = Array.from({ length: WORKERS }, work);
  return {
    want: (podUid) => queue.add(podUid),
    forget(podUid) {
      missing.delete(podUid);
      queue.forget(podUid);
    },
    async [Symbol.asyncDispose]() {
      queue.shutDown();
      await Promise.all(workers);
    },
  };
}
