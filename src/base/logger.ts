/**
 * A log line is a constant message plus fields: the message can be searched for, the fields carry what varies. An error is logged once, by
 * the code that handles it. The destination is an argument (`LogSink`); `host` has the real ones. Logging never throws and never changes
 * its arguments. Not here: making arbitrary values printable (log-value.ts).
 */
import type { Clock } from "./clock.ts";
import { escapeControls } from "./text.ts";
import { printable, type Printable, type PrintableObject } from "./log-value.ts";

export type LogLevel = "debug" | "info" | "warn" | "error";

/** Values are printed as JSON, errors as their message: pass plain values and never a secret. */
export type LogFields = Readonly<Record<string, unknown>>;

export interface Logger {
  debug(sentence: string, fields?: LogFields): void;
  info(sentence: string, fields?: LogFields): void;
  warn(sentence: string, fields?: LogFields): void;
  error(sentence: string, fields?: LogFields): void;
  /** A child logger whose lines also carry `fields`: component, key. */
  with(fields: LogFields): Logger;
}

/** One line, as passed to a sink. */
export interface LogLine {
  /** Milliseconds since the epoch. */
  readonly timeMs: number;
  readonly level: LogLevel;
  readonly sentence: string;
  /** Fields of the call after, and instead of, those of the logger. */
  readonly fields: PrintableObject;
}

/** Receives each line in order, synchronously. Must not throw: no caller could handle it. */
export type LogSink = (line: LogLine) => void;

const RANK: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

export interface LoggerOptions {
  readonly sink: LogSink;
  readonly clock: Pick<Clock, "now">;
  /** Minimum level that is written. */
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

/** For callers that require a logger but whose output is not wanted. */
export const silentLogger: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  with: () => silentLogger,
};

function printableFields(fields: LogFields): PrintableObject {
  // Fields are an object; if it is unreadable, printable returns a text that says so.
  const converted = printable(fields);
  return typeof converted === "object" ? (converted as PrintableObject) : { fields: converted };
}

// ── formats: one line each, without the line break ──────────────────────────────────────────────────

/** {"time":"2026-01-01T00:00:00.000Z","level":"info","msg":"Scaling","from":1,"to":3} */
export function formatJson({ timeMs, level, sentence, fields }: LogLine): string {
  const members = [["time", timeText(timeMs)], ["level", level], ["msg", sentence], ...Object.entries(fields).map(besideOurs)];
  return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(",")}}`;
}

/** A field must not override the line's own members. */
function besideOurs([name, value]: readonly [string, Printable]): [string, Printable] {
  return [name === "time" || name === "level" || name === "msg" ? `field.${name}` : name, value];
}

/** 2026-01-01T00:00:00.000Z INFO  Scaling replicaSet=default/web from=1 to=3 */
export function formatHuman({ timeMs, level, sentence, fields }: LogLine): string {
  const words = Object.entries(fields).map(([name, value]) => ` ${asWord(name)}=${asWord(value)}`);
  return `${timeText(timeMs)} ${level.toUpperCase().padEnd(5)} ${escapeControls(sentence)}${words.join("")}`;
}

/** Strings that cannot be mistaken for another value are unquoted. */
const PLAIN_WORD = /^[\p{L}\p{N}_./:@%+,-]+$/u;

function asWord(value: Printable): string {
  if (typeof value === "string" && PLAIN_WORD.test(value)) return value;
  return escapeControls(JSON.stringify(value));
}

/** A clock outside of Date's range must not break logging. */
function timeText(timeMs: number): string {
  const date = new Date(timeMs);
  return Number.isNaN(date.getTime()) ? String(timeMs) : date.toISOString();
}
