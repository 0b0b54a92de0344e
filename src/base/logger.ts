/**
 * A log line is a constant sentence plus fields: the sentence can be searched for, the fields carry what varies.
 * An error is logged once, by whoever handles it. Where lines go is an argument (`LogSink`); `host` has the real ones.
 * Logging never throws and never changes what it is given. Not here: how a strange value is made printable (log-value.ts).
 */
import type { Clock } from "./clock.ts";
import { printable, type Printable, type PrintableObject } from "./log-value.ts";

export type LogLevel = "debug" | "info" | "warn" | "error";

/** Values are printed as JSON, errors as their message, so hand over plain values and never a secret. */
export type LogFields = Readonly<Record<string, unknown>>;

export interface Logger {
  debug(sentence: string, fields?: LogFields): void;
  info(sentence: string, fields?: LogFields): void;
  warn(sentence: string, fields?: LogFields): void;
  error(sentence: string, fields?: LogFields): void;
  /** A logger whose every line also carries `fields`: the part, the key. */
  with(fields: LogFields): Logger;
}

/** One line on its way to a sink. */
export interface LogLine {
  /** Milliseconds since the epoch. */
  readonly timeMs: number;
  readonly level: LogLevel;
  readonly sentence: string;
  /** Those of the call after, and in place of, those of the logger. */
  readonly fields: PrintableObject;
}

/** Takes each line in order, at once. Must not throw: there is nobody left to tell. */
export type LogSink = (line: LogLine) => void;

const RANK: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

export interface LoggerOptions {
  readonly sink: LogSink;
  readonly clock: Pick<Clock, "now">;
  /** The least level that is written. */
  readonly level: LogLevel;
  /** On every line. */
  readonly fields?: LogFields;
}

export function createLogger(options: LoggerOptions): Logger {
  return loggerOf(options, printableFields(options.fields ?? {}));
}

function loggerOf(options: LoggerOptions, common: PrintableObject): Logger {
  const { sink, clock } = options;
  const writerAt = (level: LogLevel) => {
    if (RANK[level] < RANK[options.level]) return () => {};
    return (sentence: string, own: LogFields = {}): void =>
      sink({ timeMs: clock.now(), level, sentence, fields: { ...common, ...printableFields(own) } });
  };
  return {
    debug: writerAt("debug"),
    info: writerAt("info"),
    warn: writerAt("warn"),
    error: writerAt("error"),
    with: (more) => loggerOf(options, { ...common, ...printableFields(more) }),
  };
}

/** For whoever must be given a logger and has nothing to hear from it. */
export const silentLogger: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  with: () => silentLogger,
};

function printableFields(fields: LogFields): PrintableObject {
  // Fields are an object, and one that cannot be read at all comes back as a text that says so.
  const converted = printable(fields);
  return typeof converted === "object" ? (converted as PrintableObject) : { fields: converted };
}

// ── formats: one line each, without the line break ──────────────────────────────────────────────────

/** {"time":"2026-01-01T00:00:00.000Z","level":"info","msg":"Scaling","from":1,"to":3} */
export function formatJson({ timeMs, level, sentence, fields }: LogLine): string {
  const members = [["time", timeText(timeMs)], ["level", level], ["msg", sentence], ...Object.entries(fields).map(besideOurs)];
  return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(",")}}`;
}

/** A field must not hide the line's own members. */
function besideOurs([name, value]: readonly [string, Printable]): [string, Printable] {
  return [name === "time" || name === "level" || name === "msg" ? `field.${name}` : name, value];
}

/** 2026-01-01T00:00:00.000Z INFO  Scaling replicaSet=default/web from=1 to=3 */
export function formatHuman({ timeMs, level, sentence, fields }: LogLine): string {
  const words = Object.entries(fields).map(([name, value]) => ` ${asWord(name)}=${asWord(value)}`);
  return `${timeText(timeMs)} ${level.toUpperCase().padEnd(5)} ${escapeControls(sentence)}${words.join("")}`;
}

/** Texts that cannot be mistaken for something else stand without quotes. */
const PLAIN_WORD = /^[\p{L}\p{N}_./:@%+,-]+$/u;

function asWord(value: Printable): string {
  if (typeof value === "string" && PLAIN_WORD.test(value)) return value;
  return escapeControls(JSON.stringify(value));
}

/**
 * What a terminal would obey and not show: C0, DEL and C1 controls (among them ESC and CSI), the line separators, and the marks
 * that turn the direction of writing, which can make a line read as another.
 */
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const OBEYED_BY_TERMINALS = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

function escapeControls(text: string): string {
  return text.replace(OBEYED_BY_TERMINALS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** A clock that is out of a date's range must not stop the log. */
function timeText(timeMs: number): string {
  const date = new Date(timeMs);
  return Number.isNaN(date.getTime()) ? String(timeMs) : date.toISOString();
}
