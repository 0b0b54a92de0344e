/**
 * Protocol between a test process and the runner, and its parser. `runs` and `done` are sent immediately and identify a test that hangs;
 * `opens` and `closes` follow the order in the source, parents around their children, and carry the results.
 */
export type Line =
  | { readonly type: "runs" | "done" | "opens"; readonly nesting: number; readonly name: string }
  | {
      readonly type: "closes";
      readonly nesting: number;
      readonly name: string;
      readonly isSuite: boolean;
      readonly durationMs: number;
      /** The reason. */
      readonly skipped?: string;
      /** The error, formatted. */
      readonly failed?: string;
      /** True if it failed only because a test inside it failed. */
      readonly failedOnlyInside?: boolean;
    }
  /** A diagnostic of Node, for instance about an error after the end of a test. */
  | { readonly type: "diagnostic"; readonly text: string }
  /** The tests ran to completion. The processor time is that of the process and of its terminated descendants. */
  | { readonly type: "end"; readonly processorMs?: number | undefined };

export interface TestResult {
  /** The names from the outermost suite to the test itself. */
  readonly path: readonly string[];
  readonly isSuite: boolean;
  readonly durationMs: number;
  readonly skipped?: string;
  readonly failed?: string;
  readonly failedOnlyInside?: boolean;
}

export interface Reading {
  /** Suites included, in the order in which they closed. */
  readonly results: readonly TestResult[];
  /** Names of the tests that were running when the stream ended. */
  readonly unfinished: readonly string[];
  readonly diagnostics: readonly string[];
  readonly ended: boolean;
  /** Known on Linux, if the tests ran to completion. */
  readonly processorMs: number | undefined;
}

export function readLines(lines: Iterable<Line>): Reading {
  const results: TestResult[] = [];
  const diagnostics: string[] = [];
  const running = new Map<string, string>();
  const open: string[] = [];
  let ended = false;
  let processorMs: number | undefined;
  for (const line of lines) {
    switch (line.type) {
      case "runs":
        running.set(`${line.nesting} ${line.name}`, line.name);
        break;
      case "done":
        running.delete(`${line.nesting} ${line.name}`);
        break;
      case "opens":
        open.length = line.nesting;
        open.push(line.name);
        break;
      case "closes": {
        const { type: _type, nesting, name, ...result } = line;
        results.push({ path: [...open.slice(0, nesting), name], ...result });
        break;
      }
      case "diagnostic":
        diagnostics.push(line.text);
        break;
      case "end":
        ended = true;
        processorMs = line.processorMs;
        break;
    }
  }
  return { results, unfinished: [...running.values()], diagnostics, ended, processorMs };
}
