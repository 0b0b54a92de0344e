/**
 * Parses FieldsV1 text one level at a time. Deeper text is sliced, not parsed: a write that touches a label never parses who owns the
 * containers, and unchanged parts are serialized as the text they were. It parses what this program or upstream has stored. Sets of clients
 * are validated as a whole first (field-set.ts, `fromJson`).
 */

export interface TextItem {
  readonly element: string;
  /** True if the path up to here is itself in the set. */
  readonly member: boolean;
  /** Text of the object below; undefined if none exists. */
  readonly text: string | undefined;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const DOT = 0x2e;

/** The items of one object, in text order, without ".". */
export function readLevel(text: string): TextItem[] {
  const items: TextItem[] = [];
  let position = text.indexOf('"');
  while (position !== -1) {
    const end = endOfString(text, position);
    const open = text.indexOf("{", end);
    if (open === -1) throw new SyntaxError(`Cannot read FieldsV1: no object follows ${text.slice(position, end)}`);
    const { close, dotted, empty } = endOfObject(text, open);
    const element = elementAt(text, position, end);
    if (element !== ".") items.push({ element, member: dotted || empty, text: empty ? undefined : text.slice(open, close) });
    position = text.indexOf('"', close);
  }
  return items;
}

function elementAt(text: string, start: number, end: number): string {
  const raw = text.slice(start + 1, end - 1);
  return raw.includes("\\") ? (JSON.parse(text.slice(start, end)) as string) : raw;
}

/** Index after the closing quote of the string that opens at `start`. */
export function endOfString(text: string, start: number): number {
  for (let position = start + 1; position < text.length; position++) {
    const code = text.charCodeAt(position);
    if (code === BACKSLASH) position++;
    else if (code === QUOTE) return position + 1;
  }
  throw new SyntaxError("Cannot read JSON: a string does not end");
}

interface ObjectEnd {
  /** Index after the closing brace. */
  readonly close: number;
  /** True if "." is one of its own keys. */
  readonly dotted: boolean;
  /** True if it has no other key than ".". */
  readonly empty: boolean;
}

/** Finds the end of the object that opens at `open`. It may contain only strings and objects, as FieldsV1 does. */
export function endOfObject(text: string, open: number): ObjectEnd {
  let depth = 0;
  let dotted = false;
  let empty = true;
  for (let position = open; position < text.length; position++) {
    const code = text.charCodeAt(position);
    if (code === QUOTE) {
      const end = endOfString(text, position);
      if (depth === 1) {
        if (end - position === 3 && text.charCodeAt(position + 1) === DOT) dotted = true;
        else empty = false;
      }
      position = end - 1;
    } else if (code === OPEN) depth++;
    else if (code === CLOSE && --depth === 0) return { close: position + 1, dotted, empty };
  }
  throw new SyntaxError("Cannot read FieldsV1: an object does not end");
}
