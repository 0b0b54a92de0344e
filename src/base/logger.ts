/**
 * A log line is a constant sentence plus fields: the sentence can be searched for, the fields carry what varies.
 * An error is logged once, by whoever handles it. Where lines go is an argument (`LogSink`); `host` has the real ones.
 */
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
