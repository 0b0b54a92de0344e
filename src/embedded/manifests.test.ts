import { deepEqual, throws } from "node:assert/strict";
import { test } from "node:test";
import { objectsOf, type Manifests } from "./manifests.ts";

const aMap = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } });
const MAP_A = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";

const READ: readonly (readonly [string, Manifests, readonly string[]])[] = [
  ["one object", aMap("a"), ["a"]],
  ["several objects", [aMap("a"), aMap("b")], ["a", "b"]],
  ["YAML", MAP_A, ["a"]],
  ["JSON text", JSON.stringify(aMap("a")), ["a"]],
  [
    "documents, of which some are empty",
    `---\n${MAP_A}--- # the next\n\n---\n# nothing\n---\n${JSON.stringify(aMap("b"))}\n---\n`,
    ["a", "b"],
  ],
  ["a separator inside of a text", `${MAP_A}data:\n  key: |\n    a\n    ---\n    b\n`, ["a"]],
  ["lines that end as on Windows", `${MAP_A}---\n${MAP_A}`.replaceAll("\n", "\r\n"), ["a", "a"]],
  [
    "documents that begin on the line of the dashes",
    `--- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n--- ${JSON.stringify(aMap("b"))}\n`,
    ["a", "b"],
  ],
  ["documents with directives and ends", `%YAML 1.2\n---\n${MAP_A}...\n---\n${MAP_A}...\n%YAML 1.1\n--- # more\n${MAP_A}`, ["a", "a", "a"]],
  ["JSON that is indented with tabs, behind YAML", `${MAP_A}---\n${JSON.stringify(aMap("b"), undefined, "\t")}\n`, ["a", "b"]],
  ["a text with the mark of its byte order", `\uFEFF${MAP_A}---\n${MAP_A}`, ["a", "a"]],
  ["a List", { apiVersion: "v1", kind: "List", items: [aMap("a"), aMap("b")] }, ["a", "b"]],
  ["a List of a kind", { apiVersion: "v1", kind: "ConfigMapList", metadata: {}, items: [aMap("a")] }, ["a"]],
  ["nothing", "", []],
];

for (const [what, manifests, names] of READ) {
  test(`${what} is read as ${names.length} objects, in order`, () => {
    deepEqual(
      objectsOf(manifests).map(({ metadata }) => metadata.name),
      names,
    );
  });
}

const WRONG: readonly (readonly [string, Manifests, RegExp])[] = [
  ["YAML that is none", `${MAP_A}---\na: [1,`, /^Error: Cannot read document 2: yaml: line 5/],
  [
    "a second object without a separator",
    `${JSON.stringify(aMap("a"))}\n${JSON.stringify(aMap("b"))}`,
    /^Error: Cannot read document 2: yaml: line 2/,
  ],
  [
    "directives without a document",
    `%YAML 1.2\n${MAP_A}`,
    /^Error: Cannot read document 1: yaml: line 2: did not find expected <document start>/,
  ],
  ["a text", "just words", /^Error: Cannot apply document 1: it must be an object$/],
  ["a list", "- 1", /^Error: Cannot apply document 1: it must be an object$/],
  [
    "no kind",
    [aMap("a"), { apiVersion: "v1", metadata: {} }],
    /^Error: Cannot apply document 2: it must have apiVersion, kind and metadata$/,
  ],
  ["no metadata", { apiVersion: "v1", kind: "ConfigMap" }, /^Error: Cannot apply document 1: it must have apiVersion, kind and metadata$/],
];

for (const [what, manifests, error] of WRONG) test(`${what} is rejected in one sentence`, () => throws(() => objectsOf(manifests), error));
