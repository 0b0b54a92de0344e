import { deepEqual, equal, throws } from "node:assert/strict";
import { describe, test } from "node:test";
import { evaluateCheck } from "./check.ts";
import { parseLesson } from "./lesson.ts";
import { parseInline, parseMarkdown } from "./markdown.ts";

test("Markdown becomes headings, paragraphs, lists, tables, quotes and code", () => {
  const text = "# T\n\none\ntwo\n\n- a\n  b\n- c\n\n1. x\n\n| A | B |\n|---|---|\n| 1 | 2 |\n\n> said\n\n```sh fails\na\n\nb\n```";
  const plain = (value: string) => [{ is: "text", text: value }];
  deepEqual(parseMarkdown(text), [
    { is: "heading", level: 1, of: plain("T"), text: "T" },
    { is: "paragraph", of: plain("one two") },
    { is: "list", isOrdered: false, items: [plain("a b"), plain("c")] },
    { is: "list", isOrdered: true, items: [plain("x")] },
    { is: "table", head: [plain("A"), plain("B")], rows: [[plain("1"), plain("2")]] },
    { is: "quote", of: plain("said") },
    { is: "code", info: "sh fails", text: "a\n\nb" },
  ]);
});

test("inline code, emphasis, links and pictures are parsed; HTML stays text", () => {
  deepEqual(parseInline("`a*b*` **b *c*** [d](https://e) ![f](g.svg) <b>"), [
    { is: "code", text: "a*b*" },
    { is: "text", text: " " },
    { is: "strong", of: [{ is: "text", text: "b *c" }] },
    { is: "text", text: "* " },
    { is: "link", of: [{ is: "text", text: "d" }], address: "https://e" },
    { is: "text", text: " " },
    { is: "image", description: "f", address: "g.svg" },
    { is: "text", text: " <b>" },
  ]);
});

test("a lesson has an introduction, steps with commands and checks, and files", () => {
  const text = [
    "# 1. Title\n\nHello\n\n## First\n\n```yaml file=a.yaml\nkind: Pod\n```\n\n```sh\nkubectl apply -f a.yaml\n```",
    "```check pods -l app=web -n shop\nobjects.size() == 1\n```\n\n## Second\n\n```sh fails\nno\n```\n\n```check pod/a\nobject != null\n```",
  ].join("\n\n");
  const { title, introduction, steps, files } = parseLesson(text);
  equal(title, "1. Title");
  equal(introduction.length, 1);
  deepEqual([...files], [["a.yaml", "kind: Pod\n"]]);
  deepEqual(
    steps.map(({ blocks, ...step }) => ({ ...step, blocks: blocks.length })),
    [
      {
        title: "First",
        blocks: 2,
        commands: [{ text: "kubectl apply -f a.yaml", fails: false }],
        checks: [{ reference: "pods", namespace: "shop", selector: "app=web", expression: "objects.size() == 1" }],
      },
      {
        title: "Second",
        blocks: 1,
        commands: [{ text: "no", fails: true }],
        checks: [{ reference: "pod/a", namespace: "default", expression: "object != null" }],
      },
    ],
  );
});

describe("a check is a CEL expression; a field that does not exist makes it false", () => {
  const object = { status: { replicas: 3 } };
  const rows = [
    { expression: "object.status.replicas == 3", object, is: true },
    { expression: "object.status.available == 3", object, is: false },
    { expression: "object == null", object: null, is: true },
    { expression: "object.spec.x", object: null, is: false },
    { expression: "objects.size()", object, is: false },
  ];
  for (const row of rows)
    test(`${row.expression} of ${JSON.stringify(row.object)}`, () =>
      equal(evaluateCheck(row.expression, { object: row.object, objects: [] }), row.is));
  test("an expression that does not compile is an error of the lesson", () =>
    throws(() => evaluateCheck("objects.(", { object: null, objects: [] }), /Cannot read the check/));
});
