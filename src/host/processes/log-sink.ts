/**
 * Log output of a real process: standard error, one line each, so that standard output has only results. A log that can no longer be
 * written (closed pipe, full disk) must not terminate the program.
 */
import type { LogLine, LogSink } from "../../base/logger.ts";

/** The part of a writable stream that is needed here. */
export interface LogStream {
  write(text: string): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
}

/** `format` is one of `formatJson` and `formatHuman`. */
export function stderrLogSink(format: (line: LogLine) => string): LogSink {
  return streamLogSink(process.stderr, format);
}

export function streamLogSink(stream: LogStream, format: (line: LogLine) => string): LogSink {
  // Without a listener a broken pipe or a full disk would be an uncaught exception.
  stream.on("error", () => {});
  return (line) => void stream.write(`${format(line)}\n`);
}
