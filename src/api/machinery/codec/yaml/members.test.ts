import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { readYamlMembers, type YamlMembers } from "./members.ts";

const ROWS: readonly ({ title: string; text: string } & YamlMembers)[] = [
  { title: "nothing has no members", text: "# a comment\n", members: [], problems: [] },
  {
    title: "members come with their lines, also twice",
    text: "a: 1\n\nb: [x, z]\na: yes\n",
    members: [
      { name: "a", line: 1, value: 1 },
      { name: "b", line: 3, value: ["x", "z"] },
      { name: "a", line: 4, value: true },
    ],
    problems: [],
  },
  {
    title: "JSON is read as well",
    text: '{\n  "a": "1",\n  "b": null\n}',
    members: [
      { name: "a", line: 2, value: "1" },
      { name: "b", line: 3, value: null },
    ],
    problems: [],
  },
  {
    title: "what is deeper has no value",
    text: "a: {b: c}\nb: [[1]]",
    members: [
      { name: "a", line: 1, value: undefined },
      { name: "b", line: 2, value: undefined },
    ],
    problems: [],
  },
  {
    title: "a list is not a map",
    text: "- a\n",
    members: [],
    problems: [{ line: 1, problem: "It must be a map of names to values" }],
  },
  {
    title: "a value that does not match its tag is reported with its line, and the others are parsed",
    text: "a: 1\nb: !!int x\nc: 2\n",
    members: [
      { name: "a", line: 1, value: 1 },
      { name: "c", line: 3, value: 2 },
    ],
    problems: [{ line: 2, problem: "yaml: cannot decode !!str `x` as a !!int" }],
  },
];

for (const { title, text, ...expected } of ROWS) test(title, () => deepEqual(readYamlMembers(text), expected));

test("malformed YAML is reported with its line", () => {
  const { problems } = readYamlMembers("a: 1\nb: ]\n");
  deepEqual(
    problems.map(({ line }) => line),
    [2],
  );
});
