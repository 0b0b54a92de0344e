/**
 * A quota shows how much of it is taken soon after it was made or changed, also where nobody writes. Afterwards admission keeps it so:
 * whoever writes is charged, and whoever would be refused has it counted. What is deleted while nobody writes is not seen here.
 *
 * It writes by the books of admission and not as a client: only they know what is charged and not written yet, and a status that
 * forgets that would let too much in.
 */
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import { perKeyExponential } from "../../base/rate-limiter.ts";
import { WorkQueue } from "../../base/work-queue.ts";
import type { ResourceQuota } from "../../api/generated/core/v1.ts";
import { areSameLists } from "../../api/core/v1/resource-quota/amounts.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import { QUOTAS, type QuotaBooks } from "../admission/resource-quota/quota-books.ts";
import type { Objects } from "../objects.ts";

/** Soon at first, and often enough to notice when the store is back. */
const RETRY_DELAY = { minMs: 5, maxMs: 10_000 };

export interface QuotaStatusesOptions {
  readonly objects: Objects;
  readonly books: QuotaBooks;
  readonly clock: Clock;
  readonly log: Logger;
}

export class QuotaStatuses {
  readonly #options: QuotaStatusesOptions;
  /** "<namespace>/<name>" of quotas whose status may be about something else than what they say now. */
  readonly #queue: WorkQueue<string>;
  readonly #closed = new AbortController();

  constructor(options: QuotaStatusesOptions) {
    this.#options = options;
    this.#queue = new WorkQueue({ clock: options.clock, rateLimiter: perKeyExponential(RETRY_DELAY) });
  }

  /** Resolves when it knows what is there; what is missing is written right after. */
  async start(): Promise<void> {
    await this.#options.objects.follow(QUOTAS, {
      put: (object) => {
        if (!isShown(object)) this.#queue.add(`${object.metadata.namespace}/${object.metadata.name}`);
      },
      gone() {},
      reset() {},
    });
    void this.#work();
  }

  /** Nothing begins any more. What runs may wait for a store that is gone, so nobody waits for it. */
  close(): void {
    this.#closed.abort();
    this.#queue.shutDown();
  }

  /** One after the other: whoever writes meanwhile comes first, and finds out by itself what is taken. */
  async #work(): Promise<void> {
    for (;;) {
      const quota = await this.#queue.take();
      if (quota === undefined || this.#closed.signal.aborted) return;
      const [namespace = "", name = ""] = quota.split("/");
      try {
        if (await this.#options.books.recount({ namespace, name })) this.#queue.forget(quota);
        else this.#queue.addRateLimited(quota);
      } catch (error) {
        this.#options.log.warn("How much of a quota is taken could not be written; it is tried again", { quota, error });
        this.#queue.addRateLimited(quota);
      } finally {
        this.#queue.done(quota);
      }
    }
  }
}

/** Whether the status is about what the quota says. */
function isShown(object: KubeObject): boolean {
  const { spec, status } = object as unknown as ResourceQuota;
  return areSameLists(spec?.hard, status?.hard);
}
