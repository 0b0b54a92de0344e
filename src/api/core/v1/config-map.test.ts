import assert from "node:assert/strict";
import test from "node:test";
import { cellsOf, newObject, problemsOfChange, problemsOfNew, type Sent } from "../../testing/kind.ts";
import { configMaps } from "./config-map.ts";

const MEBIBYTE = 1024 * 1024;
const WRONG_KEY =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

const ROWS: readonly [title: string, sent: Sent, problems: readonly string[]][] = [
  ["texts and bytes by key", { data: { a: "b", constructor: "c" }, binaryData: { c: "eA==" } }, []],
  ["a key that is called __proto__", { data: JSON.parse('{"__proto__": "x"}') }, []],
  ["a mebibyte", { data: { a: "x".repeat(MEBIBYTE) } }, []],
  [
    "a mebibyte and a byte",
    { data: { a: "x".repeat(MEBIBYTE) }, binaryData: { b: "eA==" } },
    ["[]: Too long: may not be more than 1048576 bytes"],
  ],
  [
    "a mebibyte of characters of two bytes",
    { data: { a: "é".repeat(MEBIBYTE / 2 + 1) } },
    ["[]: Too long: may not be more than 1048576 bytes"],
  ],
  [
    "keys that cannot be file names",
    { data: { "a b": "x" }, binaryData: { "..": "eA==" } },
    [`data[a b]: Invalid value: "a b": ${WRONG_KEY}`, "binaryData[..]: Invalid value: \"..\": must not be '..'"],
  ],
  [
    "a key in both",
    { data: { c: "d" }, binaryData: { c: "eA==" } },
    ['data[c]: Invalid value: "c": duplicate of key present in binaryData'],
  ],
];

for (const [title, sent, problems] of ROWS) {
  test(`a ConfigMap with ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () => {
    assert.deepEqual(problemsOfNew(configMaps, sent), problems);
  });
}

test("an immutable ConfigMap keeps its contents and its immutability; its labels may change", () => {
  const previous = newObject(configMaps, { data: { a: "x" }, immutable: true });
  const sentence = "Forbidden: field is immutable when `immutable` is set";

  assert.deepEqual(problemsOfChange(configMaps, previous, { data: { a: "x" }, immutable: true, metadata: { labels: { a: "b" } } }), []);
  assert.deepEqual(problemsOfChange(configMaps, previous, { data: { a: "y" }, binaryData: { c: "eA==" } }), [
    `immutable: ${sentence}`,
    `data: ${sentence}`,
    `binaryData: ${sentence}`,
  ]);
});

test("errors about immutable fields precede those about the contents", () => {
  const previous = newObject(configMaps, { data: { a: "x" }, immutable: true });

  assert.deepEqual(
    problemsOfChange(configMaps, previous, { data: { a: "x", "": "y" }, immutable: true }).map((problem) => problem.split(": ")[0]),
    ["data", "data[]"],
  );
});

test("a mutable ConfigMap may become immutable together with new contents", () => {
  const previous = newObject(configMaps, { data: { a: "x" } });

  assert.deepEqual(problemsOfChange(configMaps, previous, { data: { a: "y" }, immutable: true }), []);
});

test("the table of ConfigMaps shows the number of keys", () => {
  const configMap = newObject(configMaps, { data: { a: "x", b: "y" }, binaryData: { c: "eA==" } });

  assert.deepEqual(cellsOf(configMaps, configMap), { Name: "x", Data: 3, Age: "<unknown>" });
});
