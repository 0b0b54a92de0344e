/**
 * Lines of text that another process writes. A line ends at "\n" or "\r\n" and at nothing else: since Node 24, node:readline also splits
 * at U+2028 and U+2029, which JSON does not escape, so that one report would arrive as two broken ones.
 * Not here: questions to a person at a terminal (prompt.ts).
 */
import type { Readable } from "node:stream";

/** Calls `onLine` for each line, also for a last one without an end. Resolves after it, when the stream has ended or is closed. */
export function readLines(stream: Readable, onLine: (line: string) => void): Promise<void> {
  stream.setEncoding("utf8");
  let rest = "";
  stream.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(withoutReturn(line));
  });
  return new Promise((resolve) => {
    let isOver = false;
    const over = () => {
      if (isOver) return;
      isOver = true;
      if (rest !== "") onLine(withoutReturn(rest));
      resolve();
    };
    stream.once("end", over);
    stream.once("close", over);
  });
}

function withoutReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}
