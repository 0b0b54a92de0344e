/** Which Pods' volumes are to be brought up to date: each wish is met at once, several of one Pod together, and one that fails again later. */
import type { Clock } from "../../../base/clock.ts";
import type { Logger } from "../../../base/logger.ts";
import { perKeyExponential } from "../../../base/rate-limiter.ts";
import { WorkQueue } from "../../../base/work-queue.ts";

/** As upstream's, for volumes that cannot be mounted. */
const RETRY_DELAY = { minMs: 500, maxMs: 122_000 };

/** Pods at a time: it is waiting for the disk, mostly. */
const WORKERS = 4;

export interface Updates extends AsyncDisposable {
  want(podUid: string): void;
  /** It is not tried again. */
  forget(podUid: string): void;
}

export interface UpdatesOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Does nothing for a Pod that is gone. */
  update(podUid: string): Promise<void>;
}

export function startUpdates({ clock, log, update }: UpdatesOptions): Updates {
  const queue = new WorkQueue<string>({ clock, rateLimiter: perKeyExponential(RETRY_DELAY) });
  const work = async (): Promise<void> => {
    for (let podUid = await queue.take(); podUid !== undefined; podUid = await queue.take()) {
      try {
        await update(podUid);
        queue.forget(podUid);
      } catch (error) {
        log.warn("Cannot bring the volumes of a Pod up to date; trying again", { podUid, error });
        queue.addRateLimited(podUid);
      } finally {
        queue.done(podUid);
      }
    }
  };
  const workers = Array.from({ length: WORKERS }, work);
  return {
    want: (podUid) => queue.add(podUid),
    forget: (podUid) => queue.forget(podUid),
    async [Symbol.asyncDispose]() {
      queue.shutDown();
      await Promise.all(workers);
    },
  };
}
