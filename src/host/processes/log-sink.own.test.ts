/** Starts processes whose standard error it reads, or closes. */
import { deepEqual, equal } from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";

/** A process that logs this many lines to standard error. */
function aLoggingProcess(lines: number) {
  const program = `
    const { createLogger, formatHuman } = await import(${JSON.stringify(new URL("../../base/logger.js", import.meta.url).href)});
    const { stderrLogSink } = await import(${JSON.stringify(new URL("./log-sink.js", import.meta.url).href)});
    const log = createLogger({ sink: stderrLogSink(formatHuman), clock: { now: () => 0 }, level: "info" });
    for (let line = 0; line < ${lines}; line++) {
      log.info("Counted", { line });
      await new Promise((resolve) => setImmediate(resolve));
    }
    console.log("still here");
  `;
  return spawn(process.execPath, ["--input-type=module", "--eval", program], { stdio: ["ignore", "pipe", "pipe"] });
}

async function textOf(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

test("log lines are written to standard error in order, and not to standard output", async () => {
  const child = aLoggingProcess(3);
  const [stdout, stderr] = await Promise.all([textOf(child.stdout), textOf(child.stderr)]);

  deepEqual(stderr.split("\n"), [0, 1, 2].map((line) => `1970-01-01T00:00:00.000Z INFO  Counted line=${line}`).concat(""));
  equal(stdout, "still here\n");
});

test("a process whose log is no longer read continues", async () => {
  const child = aLoggingProcess(100);
  child.stderr.destroy();
  const exited = once(child, "exit");

  equal(await textOf(child.stdout), "still here\n");
  deepEqual(await exited, [0, null]);
});
