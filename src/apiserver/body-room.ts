/**
 * How many bodies are taken in at once. A body takes memory, and may come as slowly as its sender likes; so there is room for only so
 * many, apart from that for requests that are worked on, and nobody gets more than half of it: one slow client stops itself and not all.
 */
import { tooManyRequests } from "../api/machinery/status-error.ts";
import { MASTERS } from "./authorization/chain.ts";
import type { User } from "./request.ts";

export interface Room {
  /** Once. */
  leave(): void;
}

/** When a client that was refused for lack of room may come back. */
export const RETRY_AFTER_SECONDS = 1;

export class BodyRoom {
  readonly #max: number;
  #taken = 0;
  readonly #byUser = new Map<string, number>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Throws if there is none (429). Whoever may do everything always gets in. */
  take({ name, groups }: User): Room {
    const own = this.#byUser.get(name) ?? 0;
    const isFull = this.#taken >= this.#max || own >= Math.ceil(this.#max / 2);
    if (isFull && !groups.includes(MASTERS)) {
      throw tooManyRequests("Too many requests, please try again later.", RETRY_AFTER_SECONDS);
    }
    this.#taken++;
    this.#byUser.set(name, own + 1);
    return { leave: () => this.#leave(name) };
  }

  #leave(name: string): void {
    this.#taken--;
    const own = (this.#byUser.get(name) ?? 1) - 1;
    if (own === 0) this.#byUser.delete(name);
    else this.#byUser.set(name, own);
  }
}
