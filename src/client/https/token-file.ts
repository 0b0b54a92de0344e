/** A token in a file that another process renews. Re-read after a minute, and when the server rejected its content. */
import { decodeText } from "../../api/machinery/codec/json.ts";
import type { Clock } from "../../base/clock.ts";

/** As upstream's clients; Pod tokens are renewed long before they expire. */
const REREAD_AFTER_MS = 60_000;

export interface TokenFileOptions {
  readonly path: string;
  /** Used while the file is unreadable. */
  readonly fallback: string | undefined;
  readonly clock: Clock;
  readFile(path: string): Promise<Uint8Array>;
}

export class TokenFile {
  readonly #options: TokenFileOptions;
  #token: string | undefined;
  #readAtMs = -Infinity;
  #reading: Promise<string> | undefined;

  constructor(options: TokenFileOptions) {
    this.#options = options;
    this.#token = options.fallback;
  }

  token(): string | Promise<string> {
    const isFresh = this.#options.clock.monotonic() - this.#readAtMs < REREAD_AFTER_MS;
    return isFresh && this.#token !== undefined ? this.#token : this.reread();
  }

  /** One read for all waiting callers. Rejects only if there never was a token. */
  reread(): Promise<string> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(): Promise<string> {
    const { path, readFile, clock } = this.#options;
    try {
      const token = decodeText(await readFile(path)).trim();
      if (token === "") throw new Error(`read empty token from file "${path}"`);
      this.#token = token;
    } catch (error) {
      if (this.#token === undefined) throw new Error(`failed to read token file "${path}": ${(error as Error).message}`, { cause: error });
    }
    this.#readAtMs = clock.monotonic();
    return this.#token;
  }
}
