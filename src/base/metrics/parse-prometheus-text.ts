/**
 * Reads the samples of a page in the Prometheus text format, as kubelets and programs serve it. Comments are skipped, and so is everything
 * that is not a sample: a page of a newer format has more than this version knows. Not here: writing it (prometheus-text.ts).
 */
import type { Labels } from "./prometheus-text.ts";

export interface ParsedSample {
  readonly name: string;
  readonly labels: Labels;
  readonly value: number;
  /** Milliseconds since the epoch. Absent: the time of the request. */
  readonly atMs?: number;
}

/** A name, labels in braces, a value, a timestamp. */
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)\s*(?:\{((?:[^"}]|"(?:[^"\\]|\\.)*")*)\})?\s+(\S+)(?:\s+(-?\d+))?/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"((?:[^"\\]|\\.)*)"/g;

export interface ParseOptions {
  /** Names of the metrics to read. Absent: all. */
  readonly only?: ReadonlySet<string>;
}

export function* parsePrometheusText(text: string, { only }: ParseOptions = {}): Generator<ParsedSample> {
  for (const line of text.split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const [, name, labels, value, at] = SAMPLE.exec(line) ?? [];
    if (name === undefined || value === undefined || only?.has(name) === false) continue;
    const number = numberOf(value);
    if (number === undefined) continue;
    yield { name, labels: labelsOf(labels), value: number, ...(at === undefined ? {} : { atMs: Number(at) }) };
  }
}

const TYPE = /^# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (\w+)/;

/** The declared types by name of the family: "counter", "gauge", "histogram", "summary". */
export function prometheusTypes(text: string): ReadonlyMap<string, string> {
  const types = new Map<string, string>();
  for (const line of text.split("\n")) {
    if (!line.startsWith("# TYPE ")) continue;
    const [, name, type] = TYPE.exec(line) ?? [];
    if (name !== undefined && type !== undefined) types.set(name, type);
  }
  return types;
}

function labelsOf(text = ""): Labels {
  return Object.fromEntries(Array.from(text.matchAll(LABEL), ([, name = "", value = ""]) => [name, unescaped(value)]));
}

function unescaped(value: string): string {
  return value.includes("\\") ? value.replace(/\\(.)/g, (_, character: string) => (character === "n" ? "\n" : character)) : value;
}

/** Undefined if it is not a number. */
function numberOf(text: string): number | undefined {
  const infinite = /^([+-]?)Inf$/i.exec(text);
  if (infinite !== null) return infinite[1] === "-" ? -Infinity : Infinity;
  const number = Number(text);
  return Number.isNaN(number) && text !== "NaN" ? undefined : number;
}
