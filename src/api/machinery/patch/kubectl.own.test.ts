/** Compares our JSON patch and merge patch with those of the real kubectl, which upstream's server uses too. */
import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { patchLocally } from "../../../testing/fixtures/kubectl-patch.ts";
import { needs } from "../../../testing/needs.ts";
import type { Json, JsonObject } from "../object.ts";
import { applyJsonPatch } from "./json-patch.ts";
import { applyMergePatch } from "./merge-patch.ts";

const documents: readonly JsonObject[] = [
  {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "full", labels: { "a/b": "1", c: "2" } },
    list: [1, { x: 1 }, "3"],
    o: { p: { q: null } },
  },
  { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "bare" }, list: [], o: [{ p: 1 }] },
];

const jsonPatches: readonly (readonly JsonObject[])[] = [
  [{ op: "add", path: "/data", value: { a: "b" } }],
  [{ op: "add", path: "/list/-", value: 4 }],
  [
    { op: "add", path: "/list/0", value: 0 },
    { op: "add", path: "/list/-1", value: 9 },
  ],
  [{ op: "add", path: "/list/x", value: 0 }],
  [{ op: "add", path: "/list/9", value: 0 }],
  [{ op: "add", path: "/missing/deep", value: 0 }],
  [{ op: "add", path: "/data" }],
  [{ op: "add", path: "", value: {} }],
  [{ op: "remove", path: "/metadata/labels/a~1b" }],
  [{ op: "remove", path: "/list/-1" }],
  [{ op: "remove", path: "/list/5" }],
  [{ op: "remove", path: "/o/p" }],
  [{ op: "replace", path: "/new", value: 1 }],
  [{ op: "replace", path: "/list/0", value: 1 }],
  [{ op: "replace", path: "/o/0", value: 5 }],
  [{ op: "replace", path: "/o/p/q/r", value: 5 }],
  [{ op: "move", from: "/list/0", path: "/first" }],
  [{ op: "move", from: "/o", path: "/o/p" }],
  [{ op: "move", from: "/nothing", path: "/x" }],
  [{ op: "copy", from: "/nothing", path: "/x" }],
  [
    { op: "copy", from: "/o", path: "/x" },
    { op: "add", path: "/x/0", value: 7 },
  ],
  [{ op: "copy", from: "/list", path: "/list/0" }],
  [{ op: "test", path: "/list", value: [] }],
  [{ op: "test", path: "/o/p/q", value: null }],
  [{ op: "test", path: "/o/p/q" }],
  [{ op: "test", path: "/metadata", value: { name: "bare" } }],
  [
    { op: "test", path: "/metadata/name", value: "full" },
    { op: "add", path: "x/y", value: 1 },
  ],
  [{ op: "jump", path: "/list" }],
  [{ op: "add", value: 1 }],
];

const mergePatches: readonly JsonObject[] = [
  {},
  { data: { a: "b", c: null } },
  { metadata: { labels: null } },
  { metadata: { labels: { "a/b": null, d: "4" } }, list: null },
  { list: [{ a: null, b: 1 }, null] },
  { o: { p: { q: 1, r: { s: null } } } },
  { o: null, new: [{ deep: [{ gone: null }] }] },
  { o: 5 },
];

test("JSON patches have the same results and error messages as kubectl's", { ...needs("kubectl") }, async () => {
  for (const patch of jsonPatches) await compare("json", patch);
});

test("merge patches have the same results as kubectl's", { ...needs("kubectl") }, async () => {
  for (const patch of mergePatches) await compare("merge", patch);
});

async function compare(type: "json" | "merge", patch: Json): Promise<void> {
  const theirs = await patchLocally(type, documents, patch);
  const patched = new Map<string, Json>();
  const errors: string[] = [];
  for (const document of documents) {
    try {
      const result = type === "json" ? applyJsonPatch(document, patch) : applyMergePatch(document, patch);
      patched.set((document["metadata"] as { name: string }).name, result);
    } catch (error) {
      // The server has one message for all of these; the specific one is its cause.
      ok(error instanceof Error && error.cause instanceof Error);
      errors.push(inKubectlsWords(error.cause.message));
    }
  }
  deepEqual(patched, theirs.patched, JSON.stringify(patch));
  equal(errors.join("\n"), inOurWords(theirs.errors), JSON.stringify(patch));
}

/** For a segment that is no number, the library returns the message of Go's parser. */
function inOurWords(errors: string): string {
  return errors.replaceAll(
    /(?:value was not .*: )?strconv\.Atoi: parsing "(.*)": .*$/gm,
    "Unable to access invalid index: $1: invalid index referenced",
  );
}

/** kubectl rewrites one of the messages. */
function inKubectlsWords(sentence: string): string {
  return sentence.replace(/^.*doc is missing key: (.*)$/, "Object to be patched is missing field ($1)");
}
