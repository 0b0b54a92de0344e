/**
 * A quota shows how much of it is taken soon after it was made or changed, also where nobody writes. Afterwards admission keeps it so:
 * whoever writes is charged, and whoever would be refused has it counted. What is deleted while nobody writes is not seen here.
 *
 * It writes by the books of admission and not as a client: only they know what is charged and not written yet, and a status that
 * forgets that would let too much in.
 */
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { ResourceQuota } from "../../api/generated/core/v1.ts";
import { areSameLists } from "../../api/core/v1/resource-quota/amounts.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import { QUOTAS, type QuotaBooks } from "../admission/resource-quota/quota-books.ts";
import type { Objects } from "../objects.ts";
import { LoopQueue } from "./loop-queue.ts";

export interface QuotaStatusesOptions {
  readonly objects: Objects;
  readonly books: QuotaBooks;
  readonly clock: Clock;
  readonly log: Logger;
}

export class QuotaStatuses {
  readonly #options: QuotaStatusesOptions;
  /** "<namespace>/<name>" of quotas whose status may be about something else than what they say now. */
  readonly #queue: LoopQueue;

  constructor(options: QuotaStatusesOptions) {
    this.#options = options;
    const failure = "How much of a quota is taken could not be written";
    this.#queue = new LoopQueue({ ...options, failure, work: (quota) => this.#count(quota) });
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
    this.#queue.start();
  }

  close(): void {
    this.#queue.close();
  }

  /** False: others wrote it each time, and it is not known whether it is right now. */
  #count(quota: string): Promise<boolean> {
    const [namespace = "", name = ""] = quota.split("/");
    return this.#options.books.recount({ namespace, name });
  }
}

/** Whether the status is about what the quota says. */
function isShown(object: KubeObject): boolean {
  const { spec, status } = object as unknown as ResourceQuota;
  return areSameLists(spec?.hard, status?.hard);
}
