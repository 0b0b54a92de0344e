/** A logger that writes to two loggers. */
import type { LogFields, Logger } from "../../base/logger.ts";

export function teeLogger(one: Logger, other: Logger): Logger {
  const both = (level: "debug" | "info" | "warn" | "error") => (sentence: string, fields?: LogFields) => {
    one[level](sentence, fields);
    other[level](sentence, fields);
  };
  return {
    debug: both("debug"),
    info: both("info"),
    warn: both("warn"),
    error: both("error"),
    with: (fields) => teeLogger(one.with(fields), other.with(fields)),
  };
}
