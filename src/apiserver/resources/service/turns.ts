/**
 * Turns at allocating Service numbers, where several API servers share a store: an allocation also writes a key, on condition that it is
 * unchanged since it was read. Within one server writes are serialized, so that servers compete and not all their clients: of 64 concurrent
 * ones only one would succeed, and the last would need 64 attempts.
 */
import type { Clock } from "../../../base/clock.ts";
import type { Random } from "../../../base/random.ts";
import { bookkeepingPrefix } from "../../../store/key.ts";
import type { Entry, Operation, Store } from "../../../store/store.ts";
import { bytesValue } from "../../../store/value.ts";
import { translated } from "../../framework/storage/store-failure.ts";
import { SerialQueue } from "../../shared/serial-queue.ts";
import { newUid } from "../../../base/uuid.ts";

/** Writing this key takes the turn. */
const TURN_KEY = `${bookkeepingPrefix("servicenumbers")}turn`;

export interface Turn {
  /** To be committed with the allocation. */
  readonly operations: readonly Operation[];
  /** Lets the next one start. */
  end(): void;
}

const EXCLUSIVE: Turn = { operations: [], end() {} };

export class Turns {
  readonly #store: Store;
  readonly #random: Random;
  readonly #queue: SerialQueue;

  constructor({ store, clock, random }: { readonly store: Store; readonly clock: Clock; readonly random: Random }) {
    this.#store = store;
    this.#random = random;
    this.#queue = new SerialQueue(clock);
  }

  /** State read from now on, as far as it changes only in turns, is still valid when the turn is committed. */
  async begin(): Promise<Turn> {
    if (!this.#store.capabilities.shared) return EXCLUSIVE;
    const end = await this.#queue.begin();
    try {
      const entry = await translated(() => this.#store.get(TURN_KEY));
      return { operations: [this.#take(entry)], end };
    } catch (error) {
      end();
      throw error;
    }
  }

  /** A unique value, so that a server cannot mistake another's turn for its own. */
  #take(before: Entry | undefined): Operation {
    const value = bytesValue(new TextEncoder().encode(newUid(this.#random)));
    const precondition = before === undefined ? ({ is: "absent" } as const) : ({ is: "at", revision: before.revision } as const);
    return { type: "put", key: TURN_KEY, value, precondition };
  }
}
