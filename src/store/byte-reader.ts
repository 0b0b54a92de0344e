/** Reads exact lengths and lines from a sequence of chunks, buffering no more than the requested length plus one chunk. */
export class ByteReader {
  readonly #pieces: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array(0);

  constructor(pieces: AsyncIterable<Uint8Array>) {
    this.#pieces = pieces[Symbol.asyncIterator]();
  }

  /** Exactly `length` bytes, or undefined if the sequence ends first. Grows with what arrives, so that a forged length costs nothing. */
  async read(length: number): Promise<Uint8Array | undefined> {
    if (this.#rest.length >= length) return this.#take(length);
    const parts = [this.#rest];
    let have = this.#rest.length;
    this.#rest = new Uint8Array(0);
    while (have < length) {
      const { done, value } = await this.#pieces.next();
      if (done === true) return undefined;
      parts.push(value);
      have += value.length;
    }
    this.#rest = concatenate(parts, have);
    return this.#take(length);
  }

  /** The text before the next line feed, or undefined if none exists within `lengthMax` bytes. */
  async readLine(lengthMax: number): Promise<string | undefined> {
    const bytes: number[] = [];
    while (bytes.length < lengthMax) {
      const [byte] = (await this.read(1)) ?? [];
      if (byte === undefined) return undefined;
      if (byte === LINE_FEED) return new TextDecoder().decode(Uint8Array.from(bytes));
      bytes.push(byte);
    }
    return undefined;
  }

  #take(length: number): Uint8Array {
    const taken = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(length);
    return taken;
  }
}

const LINE_FEED = 0x0a;

function concatenate(parts: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length);
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}
