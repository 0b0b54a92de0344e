/**
 * Turns at giving numbers to Services, where several API servers share a store: whoever gives some also writes a key, on the condition
 * that nobody did since it was read. Within one server the writes wait for each other, so that servers compete and not all their
 * clients: of 64 that try at once only one would succeed, and the last would have tried 64 times.
 */
import type { Clock } from "../../../base/clock.ts";
import type { Random } from "../../../base/random.ts";
import { bookkeepingPrefix } from "../../../store/key.ts";
import type { Entry, Operation, Store } from "../../../store/store.ts";
import { bytesValue } from "../../../store/value.ts";
import { translated } from "../../framework/storage/store-failure.ts";
import { TurnQueue } from "../../shared/serial-queue.ts";
import { newUid } from "../../framework/storage/identifiers.ts";

/** Whoever writes it has its turn. */
const TURN_KEY = `${bookkeepingPrefix("servicenumbers")}turn`;

export interface Turn {
  /** To be committed with what is given. */
  readonly operations: readonly Operation[];
  /** The next can have its turn. */
  end(): void;
}

const NOBODY_ELSE: Turn = { operations: [], end() {} };

export class Turns {
  readonly #store: Store;
  readonly #random: Random;
  readonly #queue: TurnQueue;

  constructor({ store, clock, random }: { readonly store: Store; readonly clock: Clock; readonly random: Random }) {
    this.#store = store;
    this.#random = random;
    this.#queue = new TurnQueue(clock);
  }

  /** What is read from now on is still so when the turn is committed, as far as it changes only in turns. */
  async begin(): Promise<Turn> {
    if (!this.#store.capabilities.shared) return NOBODY_ELSE;
    const end = await this.#queue.begin();
    try {
      const entry = await translated(() => this.#store.get(TURN_KEY));
      return { operations: [this.#take(entry)], end };
    } catch (error) {
      end();
      throw error;
    }
  }

  /** The value is another one each time, so that nobody takes another's turn for their own. */
  #take(before: Entry | undefined): Operation {
    const value = bytesValue(new TextEncoder().encode(newUid(this.#random)));
    const precondition = before === undefined ? ({ is: "absent" } as const) : ({ is: "at", revision: before.revision } as const);
    return { type: "put", key: TURN_KEY, value, precondition };
  }
}
