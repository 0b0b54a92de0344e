/** Which Pods' volumes are to be brought up to date: each wish is met at once, several of one Pod together, and one that fails again later. */
import type { Clock } from "../../../base/clock.ts";
import type { Logger } from "../../../base/logger.ts";
import { perKeyExponential } from "../../../base/rate-limiter.ts";
import { WorkQueue } from "../../../base/work-queue.ts";
import { isMissingSource } from "../../volumes/framework/volume-error.ts";

/** As upstream's, for volumes that cannot be mounted. */
const RETRY_DELAY = { minMs: 500, maxMs: 122_000 };

/** Pods at a time: it is waiting for the disk, mostly. */
const WORKERS = 4;

export interface Updates extends AsyncDisposable {
  want(podUid: string): void;
  /** It is not tried again. */
  forget(podUid: string): void;
}

/**
 * Attempts that fail for want of a source before it is logged, which is once. A namespace that is deleted loses its ConfigMaps before its
 * Pods are terminating; by then, some 3 s later, they are.
 */
const MISSING_ATTEMPTS = 3;

export interface UpdatesOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Does nothing for a Pod that is gone or terminating. */
  update(podUid: string): Promise<void>;
  /** "namespace/name", for the log. */
  nameOf(podUid: string): string;
}

export function startUpdates({ clock, log, update, nameOf }: UpdatesOptions): Updates {
  const queue = new WorkQueue<string>({ clock, rateLimiter: perKeyExponential(RETRY_DELAY) });
  /** Attempts that failed for want of a source, by the Pod's uid. */
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
