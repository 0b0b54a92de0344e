/** Splits a chunked byte stream into lines. An unterminated line is never delivered. */

/** Maximum length of one event, as in upstream's clients. Objects are limited to a tenth of it. */
export const WATCH_LINE_BYTES_MAX = 16 * 1024 * 1024;

const LINE_END = 0x0a;

export class WatchLines {
  #parts: Uint8Array[] = [];
  #partsBytes = 0;

  /** Calls `line` for each line that ends in `piece`, as long as it returns true. Returns false if a line exceeds the maximum length. */
  push(piece: Uint8Array, line: (bytes: Uint8Array) => boolean): boolean {
    let start = 0;
    for (let end = piece.indexOf(LINE_END); end >= 0; end = piece.indexOf(LINE_END, start)) {
      const bytes = this.#completed(piece.subarray(start, end));
      start = end + 1;
      if (bytes.length > 0 && !line(bytes)) return true;
    }
    if (start < piece.length) {
      this.#parts.push(piece.subarray(start));
      this.#partsBytes += piece.length - start;
    }
    return this.#partsBytes <= WATCH_LINE_BYTES_MAX;
  }

  #completed(last: Uint8Array): Uint8Array {
    if (this.#parts.length === 0) return last;
    const bytes = new Uint8Array(this.#partsBytes + last.length);
    let at = 0;
    for (const part of [...this.#parts, last]) {
      bytes.set(part, at);
      at += part.length;
    }
    this.#parts = [];
    this.#partsBytes = 0;
    return bytes;
  }
}
