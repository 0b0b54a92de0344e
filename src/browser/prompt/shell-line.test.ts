import { deepEqual } from "node:assert/strict";
import { describe, test } from "node:test";
import { parseShellLines, type ShellLines } from "./shell-line.ts";

const one = (words: readonly string[], more: object = {}): ShellLines => ({
  is: "complete",
  commands: [{ words, isBackground: false, ...more }],
});

describe("a line of the prompt is split like a shell's", () => {
  const rows: readonly { readonly text: string; readonly gives: ShellLines }[] = [
    { text: "", gives: { is: "complete", commands: [] } },
    { text: "  kubectl   get pods ", gives: one(["kubectl", "get", "pods"]) },
    { text: "kubectl get pods # all of them", gives: one(["kubectl", "get", "pods"]) },
    { text: `a 'b c' "d \\"e\\"" f\\ g ''`, gives: one(["a", "b c", 'd "e"', "f g", ""]) },
    { text: "get pods -w &", gives: one(["get", "pods", "-w"], { isBackground: true }) },
    { text: "get cm a -o yaml > a.yaml", gives: one(["get", "cm", "a", "-o", "yaml"], { output: "a.yaml" }) },
    { text: "apply -f - <<EOF\na: 1\nb: 2\nEOF", gives: one(["apply", "-f", "-"], { input: "a: 1\nb: 2\n" }) },
    { text: "apply -f - <<'E.F'\na\nEOF\nE.F\n", gives: one(["apply", "-f", "-"], { input: "a\nEOF\n" }) },
    { text: "a \\\n  b", gives: one(["a", "b"]) },
    { text: "apply -f - <<EOF\na: 1", gives: { is: "incomplete" } },
    { text: "a 'b", gives: { is: "incomplete" } },
    { text: "a \\\n", gives: { is: "incomplete" } },
    { text: "a | b", gives: { is: "wrong", problem: "pipes are not supported" } },
    { text: "a && b", gives: { is: "wrong", problem: "&& is not supported: enter the commands one after the other" } },
    { text: "a < b", gives: { is: "wrong", problem: "only here-documents (<<EOF) are supported as input" } },
    { text: "a >", gives: { is: "wrong", problem: "syntax error: a name must follow >" } },
  ];
  for (const { text, gives } of rows) test(JSON.stringify(text), () => deepEqual(parseShellLines(text), gives));
});

test("several lines are several commands, also after a here-document", () => {
  const parsed = parseShellLines("a; b\ncat > f <<X\n1\nX\nc");
  deepEqual(parsed.is === "complete" && parsed.commands.map(({ words, input }) => [...words, input]), [
    ["a", undefined],
    ["b", undefined],
    ["cat", "1\n"],
    ["c", undefined],
  ]);
});
