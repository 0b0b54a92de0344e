/**
 * Test reporter that runs inside the test process. Writes the relevant events to file descriptor 3 immediately, one JSON line each, so that
 * a crash loses nothing of what came before. The last line marks completion; a process that ends without it ended prematurely, whatever its
 * exit code. The other end is lines.ts.
 */
import { writeSync } from "node:fs";
import type { TestEvent } from "node:test/reporters";
import { inspect } from "node:util";
import type { Line } from "./lines.ts";
import { processorTimeMs } from "./processor-time.ts";

const LINES_DESCRIPTOR = 3;

/** Depth to which the values of a failed comparison are printed. */
const INSPECT_DEPTH = 10;

// Node requires the default export of the module that --test-reporter names to be a generator, although this one yields nothing.
// oxlint-disable-next-line import/no-default-export, eslint/require-yield
export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<never, void> {
  for await (const event of events) {
    const line = lineOf(event);
    if (line !== undefined) write(line);
  }
  write({ type: "end", processorMs: processorTimeMs() });
}

function write(line: Line): void {
  writeSync(LINES_DESCRIPTOR, `${JSON.stringify(line)}\n`);
}

function lineOf(event: TestEvent): Line | undefined {
  switch (event.type) {
    case "test:dequeue":
      return { type: "runs", nesting: event.data.nesting, name: event.data.name };
    case "test:complete":
      return { type: "done", nesting: event.data.nesting, name: event.data.name };
    case "test:start":
      return { type: "opens", nesting: event.data.nesting, name: event.data.name };
    case "test:pass":
    case "test:fail":
      return { type: "closes", ...outcomeOf(event) };
    case "test:diagnostic":
      // Node's own summary; the runner computes one over all files.
      return /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) /.test(event.data.message)
        ? undefined
        : { type: "diagnostic", text: event.data.message };
    default:
      return undefined;
  }
}

function outcomeOf(event: Extract<TestEvent, { type: "test:pass" | "test:fail" }>): Omit<Extract<Line, { type: "closes" }>, "type"> {
  const { nesting, name, skip, details } = event.data;
  const failure = event.type === "test:fail" ? event.data.details.error : undefined;
  return {
    nesting,
    name,
    isSuite: details.type === "suite",
    durationMs: details.duration_ms,
    ...(skip === undefined || skip === false ? {} : { skipped: skip === true ? "no reason given" : skip }),
    ...(failure === undefined ? {} : { failed: textOf(failure), failedOnlyInside: isOnlyBelow(failure) }),
  };
}

/** Node wraps the error of the test. Frames inside Node are irrelevant to the reader. */
function textOf(failure: Error): string {
  return inspect(failure.cause ?? failure, { depth: INSPECT_DEPTH }).replace(/\n +at .*\bnode:(internal|async_hooks)\b.*/g, "");
}

function isOnlyBelow(failure: Error): boolean {
  return "failureType" in failure && failure.failureType === "subtestsFailed";
}
