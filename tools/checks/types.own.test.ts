import { equal, match } from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { plant } from "./plant.ts";
import { root, runTool } from "./run-tool.ts";

const TSC = "typescript/bin/tsc";

for (const { what, project } of [
  { what: "sources, tests, tools and benchmarks", project: root },
  { what: "the tools in plain JavaScript", project: join(root, "tools") },
  { what: "the pages of the dashboard", project: join(root, "src/dashboard/web") },
  { what: "the page with a cluster inside", project: join(root, "src/browser/web") },
]) {
  test(`${what} have no type errors`, () => {
    const { exitCode, output } = runTool(TSC, ["-p", project, "--noEmit"]);
    equal(exitCode, 0, output);
  });
}

describe("the compiler is strict: each planted mistake is reported", () => {
  const mistakes = [
    { it: "an element that may be missing", text: "export const a: number = ([] as number[])[0];", code: "TS2322" },
    { it: "undefined for an optional member", text: "export const a: { b?: number } = { b: undefined };", code: "TS2375" },
    { it: "a type imported as a value", text: `import { PathLike } from "node:fs"; export type A = PathLike;`, code: "TS1484" },
    { it: "an enum", text: "export enum A { B }", code: "TS1294" },
    { it: "a parameter without a type", text: "export function f(a) { return a; }", code: "TS7006" },
    { it: "an unused local", text: "export function f() { const a = 1; }", code: "TS6133" },
  ];
  const { output } = plant(
    mistakes.map(({ text }) => text),
    (directory) => runTool(TSC, ["-p", directory]),
  );

  for (const [index, { it, code }] of mistakes.entries()) test(it, () => match(output, new RegExp(`planted-${index}\\.ts\\(2,.*${code}`)));
});
