/**
 * What the process of the tests tells the runner, and what the runner makes of it. `runs` and `done` come at once and say what
 * hangs; `opens` and `closes` come in the order in which tests are written, parents around their children, and are the results.
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
      /** What it threw, printed. */
      readonly failed?: string;
      /** Whether it failed only because something in it did. */
      readonly onlyBelow?: boolean;
    }
  /** Something Node has to say, for instance about an error after a test had ended. */
  | { readonly type: "remark"; readonly text: string }
  /** The tests came to their end. */
  | { readonly type: "end" };

export interface TestResult {
  /** The names from the outermost suite to the test itself. */
  readonly path: readonly string[];
  readonly isSuite: boolean;
  readonly durationMs: number;
  readonly skipped?: string;
  readonly failed?: string;
  readonly onlyBelow?: boolean;
}

export interface Reading {
  /** Suites included, in the order in which they closed. */
  readonly results: readonly TestResult[];
  /** What was running when the lines stopped. */
  readonly unfinished: readonly string[];
  readonly remarks: readonly string[];
  readonly ended: boolean;
}

export function readLines(lines: Iterable<Line>): Reading {
  const results: TestResult[] = [];
  const remarks: string[] = [];
  const running = new Map<string, string>();
  const open: string[] = [];
  let ended = false;
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
      case "remark":
        remarks.push(line.text);
        break;
      case "end":
        ended = true;
        break;
    }
  }
  return { results, unfinished: [...running.values()], remarks, ended };
}
