/**
 * Explains why a text is not a time, with the messages of Go's `time.Parse`, which clients see. Parsing times is in ../time.ts; this is
 * called only after that failed.
 */
import { quoteGo } from "./go-text.ts";

/** Go's layouts of a Time and of a MicroTime. */
const LAYOUT = { seconds: "2006-01-02T15:04:05Z07:00", micro: "2006-01-02T15:04:05.000000Z07:00" } as const;

interface Element {
  /** Its name in Go's layout. */
  readonly element: string;
  readonly pattern: RegExp;
  /** Its value must be in [min, max], if given; `name` is Go's word for it in the message. */
  readonly range?: { readonly name: string; readonly min: number; readonly max: number };
}

const TWO_DIGITS = /^[0-9]{2}/;
const DATE_AND_CLOCK: readonly Element[] = [
  { element: "2006", pattern: /^[0-9]{4}/ },
  { element: "-", pattern: /^-/ },
  { element: "01", pattern: TWO_DIGITS, range: { name: "month", min: 1, max: 12 } },
  { element: "-", pattern: /^-/ },
  { element: "02", pattern: TWO_DIGITS },
  { element: "T", pattern: /^T/ },
  { element: "15", pattern: TWO_DIGITS, range: { name: "hour", min: 0, max: 23 } },
  { element: ":", pattern: /^:/ },
  { element: "04", pattern: TWO_DIGITS, range: { name: "minute", min: 0, max: 59 } },
  { element: ":", pattern: /^:/ },
  { element: "05", pattern: TWO_DIGITS, range: { name: "second", min: 0, max: 59 } },
];
const ANY_FRACTION: Element = { element: "", pattern: /^(?:[.,][0-9]+)?/ };
const SIX_DIGITS: Element = { element: ".000000", pattern: /^[.,][0-9]{6}/ };
const ZONE: Element = { element: "Z07:00", pattern: /^(?:Z|[+-][0-9]{2}:[0-9]{2})/ };

export function timeProblem(text: string, layout: keyof typeof LAYOUT): string {
  let rest = text;
  for (const { element, pattern, range } of [...DATE_AND_CLOCK, layout === "micro" ? SIX_DIGITS : ANY_FRACTION, ZONE]) {
    const found = pattern.exec(rest)?.[0];
    if (found === undefined) {
      return `parsing time ${quoteGo(text)} as "${LAYOUT[layout]}": cannot parse ${quoteGo(rest)} as "${element}"`;
    }
    if (range !== undefined && (Number(found) < range.min || Number(found) > range.max)) return outOfRange(text, range.name);
    rest = rest.slice(found.length);
  }
  if (rest !== "") return `parsing time ${quoteGo(text)}: extra text: ${quoteGo(rest)}`;
  // The form is right, so the day does not exist in its month, or the offset is out of range.
  return outOfRange(text, Number(/[+-]([0-9]{2}):[0-9]{2}$/.exec(text)?.[1] ?? 0) > 24 ? "time zone offset hour" : "day");
}

function outOfRange(text: string, name: string): string {
  return `parsing time ${quoteGo(text)}: ${name} out of range`;
}
