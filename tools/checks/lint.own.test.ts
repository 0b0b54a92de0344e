import { doesNotMatch, equal, match } from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { plant } from "./plant.ts";
import { root, runTool } from "./run-tool.ts";

function lint(...args: readonly string[]): { readonly exitCode: number | null; readonly output: string } {
  return runTool("oxlint/bin/oxlint", ["--config", join(root, ".oxlintrc.json"), "--format=unix", ...args]);
}

test("the linter reports nothing", () => {
  const { exitCode, output } = lint("src", "tools", "test", "bench", "--no-error-on-unmatched-pattern");
  equal(exitCode, 0, output);
});

describe("the linter is effective: each planted mistake is reported with file and line", () => {
  const mistakes = [
    { rule: "no-floating-promises", text: "export function f(p: Promise<void>) { p; }" },
    { rule: "no-floating-promises", text: "async function g() {} export function f() { g(); }" },
    { rule: "no-floating-promises", text: "export function f(p: Promise<void>) { p.then(() => {}); }" },
    { rule: "no-misused-promises", text: "export function f(p: Promise<boolean>) { if (p) return 1; return 2; }" },
    { rule: "no-misused-promises", text: "export function f() { [1].forEach(async () => {}); }" },
    { rule: "await-thenable", text: "export async function f() { await 1; }" },
    { rule: "no-explicit-any", text: "export const a: any = 1;" },
    { rule: "consistent-type-imports", text: `import { Stats } from "node:fs"; export type A = Stats;` },
    { rule: "no-unused-vars", text: "export function f() { const a = 1; }" },
    { rule: "eqeqeq", text: "export const f = (a: unknown) => a == 1;" },
    { rule: "no-default-export", text: "export default 1;" },
    { rule: "switch-exhaustiveness-check", text: `export function f(a: "b" | "c") { switch (a) { case "b": return 1; } return 2; }` },
    { rule: "no-non-null-assertion", text: "export const f = (a?: string) => a!;" },
    { rule: "only-throw-error", text: `export function f() { throw "x"; }` },
  ];
  const harmless = `import { test } from "node:test"; test("x", () => {});`;
  // Git, and therefore the linter, ignores the directory of the planted files.
  const { output } = plant([...mistakes.map(({ text }) => text), harmless], (_directory, files) => lint("--no-ignore", ...files));

  for (const [index, { rule, text }] of mistakes.entries()) {
    test(`${rule}: ${text}`, () => match(output, new RegExp(`planted-${index}\\.ts:2:.*${rule}`)));
  }

  test("a test that is not awaited is allowed, since node:test tracks its promise", () => {
    doesNotMatch(output, new RegExp(`planted-${mistakes.length}\\.ts`));
  });
});
