/**
 * The lines of several logs, in the order of their timestamps, bounded in number and size: the oldest are dropped first. Pure.
 */

export interface LogLine {
  /** Increases with each line of the buffer: its identity on the page. */
  readonly id: number;
  /** Index of its log. */
  readonly source: number;
  /** RFC 3339 with nanoseconds; "" if the server sent none. */
  readonly at: string;
  readonly text: string;
}

/** About as much as a person scrolls through; older lines are in the download of the whole log. */
export const LINES_MAX = 10_000;
/** Characters of all lines: 32 MB of memory at two bytes each. */
const CHARACTERS_MAX = 16_000_000;
/** Longer lines are cut: no person reads further, and layout is not made for more. */
const LINE_MAX = 20_000;

export class LogBuffer {
  #lines: LogLine[] = [];
  #characters = 0;
  #next = 0;
  #dropped = 0;

  get lines(): readonly LogLine[] {
    return this.#lines;
  }

  get dropped(): number {
    return this.#dropped;
  }

  /** Lines of one log, in their order. `written` as the server sends it with `timestamps=true`: "TIMESTAMP TEXT". */
  add(source: number, written: readonly string[]): void {
    const fresh = written.map((text) => this.#lineOf(source, text));
    const [first] = fresh;
    if (first === undefined) return;
    for (const { text } of fresh) this.#characters += text.length;
    const last = this.#lines.at(-1);
    // Nearly always: lines arrive when they are written.
    if (last === undefined || last.at <= first.at) this.#lines = [...this.#lines, ...fresh];
    else this.#lines = merged(this.#lines, fresh);
    this.#drop();
  }

  #lineOf(source: number, written: string): LogLine {
    const space = written.indexOf(" ");
    const hasTime = /^\d{4}-\d\d-\d\dT/.test(written);
    const end = space < 0 ? written.length : space;
    const text = hasTime ? written.slice(end + 1) : written;
    return {
      ...{ id: this.#next++, source, at: hasTime ? written.slice(0, end) : "" },
      text: text.length > LINE_MAX ? `${text.slice(0, LINE_MAX)} … (${text.length - LINE_MAX} more characters)` : text,
    };
  }

  #drop(): void {
    let count = Math.max(0, this.#lines.length - LINES_MAX);
    for (const { text } of this.#lines.slice(0, count)) this.#characters -= text.length;
    while (this.#characters > CHARACTERS_MAX) this.#characters -= this.#lines[count++]?.text.length ?? this.#characters;
    if (count === 0) return;
    this.#lines = this.#lines.slice(count);
    this.#dropped += count;
  }
}

/** Both are in order; of equal timestamps, the older lines of the buffer come first. */
function merged(older: readonly LogLine[], fresh: readonly LogLine[]): LogLine[] {
  const all: LogLine[] = [];
  let index = 0;
  for (const line of fresh) {
    for (let next = older[index]; next !== undefined && next.at <= line.at; next = older[++index]) all.push(next);
    all.push(line);
  }
  return [...all, ...older.slice(index)];
}
