import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeBySchema } from "./decode.ts";
import { parseJson } from "./json.ts";
import {
  jsonPatchSentences,
  mistakeSentences,
  strictApplyError,
  strictDecodingSentence,
  strictPatchError,
  strictWarnings,
} from "./strict.ts";
import { POD } from "./testing/schemas.ts";
import { parseYaml } from "./yaml/yaml.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function sentencesOfJson(text: string): readonly string[] {
  const { value, duplicates } = parseJson(bytes(text));
  const { unknownFields } = decodeBySchema(value, POD);
  return mistakeSentences({ body: bytes(text), schema: POD, duplicates, unknownFields });
}

function sentencesOfYaml(text: string): readonly string[] {
  const { value, duplicates } = parseYaml(bytes(text));
  const { unknownFields } = decodeBySchema(value, POD);
  return mistakeSentences({ body: bytes(text), schema: POD, yamlDuplicates: duplicates, unknownFields });
}

test("a body without mistakes has no messages", () => {
  assert.deepEqual(sentencesOfJson('{"spec":{}}'), []);
});

test("unknown and duplicate fields of JSON are reported in document order", () => {
  const text = '{"spec":{"unknownField":"x","priority":1,"priority":2,"other":1}}';

  assert.equal(
    strictDecodingSentence(sentencesOfJson(text)),
    'strict decoding error: unknown field "spec.unknownField", duplicate field "spec.priority", unknown field "spec.other"',
  );
});

test("a field named like an index is reported in document order", () => {
  assert.deepEqual(sentencesOfJson('{"foo":1,"7":2}'), ['unknown field "foo"', 'unknown field "7"']);
});

test("duplicates in free-form values are ignored", () => {
  assert.deepEqual(sentencesOfJson('{"extension":{"a":1,"a":2}}'), []);
});

test("quotes and non-printable characters in names are escaped", () => {
  assert.deepEqual(sentencesOfJson('{"a\\"\\u0001\\n":1}'), ['unknown field "a\\"\\x01\\n"']);
});

test("duplicate keys of YAML come first, in one message", () => {
  const sentences = sentencesOfYaml("\nspec:\n  foo: 1\n  priority: 1\n  priority: 2\nkind: a\nkind: b\n");

  assert.equal(
    strictDecodingSentence(sentences),
    'strict decoding error: yaml: unmarshal errors:\n  line 5: key "priority" already set in map\n  line 7: key "kind" already set in map, unknown field "spec.foo"',
  );
  assert.deepEqual(strictWarnings(sentences), [
    'line 5: key "priority" already set in map',
    'line 7: key "kind" already set in map',
    'unknown field "spec.foo"',
  ]);
});

test("a patch with unknown fields is rejected as Invalid without a name", () => {
  const error = strictPatchError([...jsonPatchSentences([{ what: "unknown", path: "[0].foo" }]), 'unknown field "spec.x"'], "{}");

  assert.equal(error.code, 422);
  assert.equal(
    error.message,
    ' "" is invalid: patch: Invalid value: "{}": strict decoding error: json patch unknown field "[0].foo", unknown field "spec.x"',
  );
});

test("an apply with duplicate keys is rejected", () => {
  assert.equal(
    strictApplyError(['line 9: key "foo" already set in map']).message,
    'error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  line 9: key "foo" already set in map',
  );
});
