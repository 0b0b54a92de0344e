import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { sizeReport } from "./sizes.ts";
import { parseSource } from "./source/source.ts";

const lines = (count: number) => "//\n".repeat(count);

test("the report has median, 90th percentile and the largest of files, functions and test files, and lists those that exceed the limit", () => {
  const sources = [
    parseSource("src/a.ts", `function f() {\n${lines(70)}}\nconst o = { m() {} };\n`),
    parseSource("src/b.ts", `const g = () => 1;\n${lines(500)}`),
    parseSource("src/c.ts", lines(10)),
    parseSource("src/generated/d.ts", lines(2000)),
    parseSource("src/a.test.ts", lines(801)),
  ];

  deepEqual(sizeReport(sources), [
    "Lines of 3 files: median 73, 90th percentile 501; largest: src/b.ts 501, src/a.ts 73, src/c.ts 10",
    "  over 500 lines: src/b.ts 501",
    "Lines of 3 functions: median 1, 90th percentile 72; largest: src/a.ts:1 f 72, src/a.ts:73 m 1, src/b.ts:1 1",
    "  over 70 lines: src/a.ts:1 f 72",
    "Lines of 1 test files: median 801, 90th percentile 801; largest: src/a.test.ts 801",
    "  over 800 lines: src/a.test.ts 801",
  ]);
});

test("the report is empty without sources", () => deepEqual(sizeReport([]), []));
