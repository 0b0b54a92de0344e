import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { rounds, testSeed } from "../../../../testing/rounds.ts";
import type { Json } from "../../object.ts";
import { writeJson } from "../json.ts";
import { writeVisibleYaml, writeYaml } from "./write.ts";
import { parseYaml, parseYamlDocuments } from "./yaml.ts";

const settings = { seed: testSeed(), numRuns: rounds({ quick: 100, full: 3_000 }) };

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const parse = (text: string) => parseYaml(bytes(text));

/** Results of sigs.k8s.io/yaml for the same text. */
const ROWS: readonly { title: string; text: string; value: Json; duplicates?: readonly string[] }[] = [
  {
    title: "the words of YAML 1.1 are booleans and nulls",
    text: "a: yes\nb: no\nc: on\nd: off\ne: Y\ng: ~\nh: null\ni:\nj: True",
    value: { a: true, b: false, c: true, d: false, e: true, g: null, h: null, i: null, j: true },
  },
  {
    title: "numbers have the forms of YAML 1.1",
    text: "a: 0777\nb: 0o17\nc: 0x1F\nd: 1_000\ne: +5\nf: -3\ng: 08\nh: 0b11\ni: 1e3\nj: .5\nk: 1.0\nl: 9007199254740993\nm: 1e400\no: _1",
    value: { a: 511, b: 15, c: 31, d: 1000, e: 5, f: -3, g: 8, h: 3, i: 1000, j: 0.5, k: 1, l: 9007199254740993n, m: "1e400", o: "_1" },
  },
  {
    title: "dates and what is quoted or tagged as such is text",
    text: 'a: 2026-01-02\nb: 2026-01-02T03:04:05Z\nc: "yes"\nd: \'1\'\ne: !!str 5\nf: !!int "5"\nh: 12:30:45\ni: !custom x\nj: !!binary aGVsbG8=',
    value: { a: "2026-01-02", b: "2026-01-02T03:04:05Z", c: "yes", d: "1", e: "5", f: 5, h: "12:30:45", i: "x", j: "hello" },
  },
  { title: "keys become text", text: "1: a\nfalse: b\n1.5: c", value: { "1": "a", false: "b", "1.5": "c" } },
  {
    title: "duplicate keys are reported with their line, and the last one wins",
    text: "\na:\n  foo: 1\n  foo: 2\nb: 1\nb: 2\nyes: 1\non: 2",
    value: { a: { foo: 2 }, b: 2, true: 2 },
    duplicates: ['line 4: key "foo" already set in map', 'line 6: key "b" already set in map', "line 8: key true already set in map"],
  },
  {
    title: "duplicate keys of JSON are reported, too",
    text: '{"a":1,\n"a":2}',
    value: { a: 2 },
    duplicates: ['line 2: key "a" already set in map'],
  },
  {
    title: "merge keys are merged, earlier maps of a list before later ones",
    text: "x: &x {p: 1, q: 2}\nz:\n  <<: [*x, {r: 1}]",
    value: { x: { p: 1, q: 2 }, z: { p: 1, q: 2, r: 1 } },
  },
  { title: "aliases stand for their anchors, the last of a name", text: "a: &x 1\nb: &x [2]\nc: *x", value: { a: 1, b: [2], c: [2] } },
  { title: "the first document counts", text: "---\na: 1\n...\n---\nb: [", value: { a: 1 } },
  { title: "nothing is null", text: "# only a comment", value: null },
  { title: "block texts keep their lines", text: "a: |\n  x\n  y\nb: >\n  x\n  y\n", value: { a: "x\ny\n", b: "x y\n" } },
  { title: "JSON is YAML", text: '{"a": [1, "x", null, true], "b": {"c": "\\u00e9"}}', value: { a: [1, "x", null, true], b: { c: "é" } } },
];
for (const { title, text, value, duplicates = [] } of ROWS) {
  test(title, () => {
    assert.deepEqual(parse(text), { value, duplicates });
  });
}

test("a key called __proto__ is an ordinary key", () => {
  const { value } = parse("__proto__: {a: 1}");

  assert.ok(Object.hasOwn(value as object, "__proto__"));
});

test("line breaks of YAML 1.1 are escaped in written YAML", () => {
  for (const character of ["\u0085", "\u2028", "\u2029", "\uFEFF", "\u007F"]) {
    const value = { [`a${character}b`]: `${character}c` };
    assert.deepEqual(parse(writeYaml(value)).value, value);
  }
});

test("YAML for a person escapes marks of direction and of no width, and reads as the same value", () => {
  for (const character of ["\u200B", "\u202E", "\u2066", "\u061C", "\u2028"]) {
    const value = { [`a${character}b`]: `${character}c\nd`, plain: "é" };
    const text = writeVisibleYaml(value);
    assert.deepEqual([text.includes(character), text.includes("plain: é"), parse(text).value], [false, true, value]);
  }
});

/** go-yaml's splitting and folding of texts. */
const TEXTS: readonly (readonly [yaml: string, value: Json])[] = [
  ["a: b c\n  d\n\n  e # f", { a: "b c d\ne" }],
  ["a: b#c", { a: "b#c" }],
  ["a: b:c", { a: "b:c" }],
  ['a: "b\n  c\n\n  d\\\n  e"', { a: "b c\nde" }],
  ["a: 'it''s\n  b'", { a: "it's b" }],
  ['a: "\\x41\\u00e9\\U0001F600\\t\\/"', { a: "Aé😀\t/" }],
  ["a: |-\n  x\n\n   y\n\nb: |+\n  x\n\n", { a: "x\n\n y", b: "x\n\n" }],
  ["a: |2\n   x\n  y\n", { a: " x\ny\n" }],
  ["a: >\n  x\n  y\n\n  z\n   w\n  v\n", { a: "x y\nz\n w\nv\n" }],
  ["a:\n- b\n- - c\n  - d\n-\n  e: f", { a: ["b", ["c", "d"], { e: "f" }] }],
  ["- a: 1\n  b: 2\n- ? c\n  : d", [{ a: 1, b: 2 }, { c: "d" }]],
  ["[a: b, ? c : d, {e, f: }]", [{ a: "b" }, { c: "d" }, { e: null, f: null }]],
  ["%TAG !y! tag:yaml.org,2002:\n---\na: !y!str 1\nb: !<tag:yaml.org,2002:int> '2'", { a: "1", b: 2 }],
  ["a: &x !!str 1\nb: !!str &y 2\nc: [*x, *y]\nd: &z\ne: *z", { a: "1", b: "2", c: ["1", "2"], d: null, e: null }],
  ["\uFEFFa: 1\r\nb: 2\r\n", { a: 1, b: 2 }],
  ["{a: 1} b", { a: 1 }],
  ['a: "\\ud83d\\ude00"', { a: "😀" }],
];
for (const [text, value] of TEXTS) {
  test(`${JSON.stringify(text)} parses as in go-yaml`, () => {
    assert.deepEqual(parse(text), { value, duplicates: [] });
  });
}

test("merge keys copy a limited number of members, for any small document", () => {
  const members = Array.from({ length: 3_000 }, (_, index) => `k${index}: 1`).join(", ");
  assert.throws(() => parse(`x: &x {${members}}\n${"y: {<<: *x}\n".repeat(10)}`), /YamlError: yaml: exceeded max of 20000 merged keys/);
});

test("duplicate keys are reported up to the common limit", () => {
  assert.equal(parse("a: 1\n".repeat(1_000)).duplicates.length, 100);
});

const WRONG: readonly (readonly [text: string, message: RegExp])[] = [
  ["a: .inf", /^json: unsupported value: \+Inf$/],
  ["~: a", /^unsupported map key of type/],
  ["? [a]\n: b", /^yaml: invalid map key/],
  ["a: *b", /^yaml: unknown anchor 'b' referenced$/],
  ["a: &b\n  c: *b", /^yaml: anchor 'b' value contains itself$/],
  ["<<: 5", /^yaml: map merge requires map or sequence of maps as the value$/],
  ["a: !!int x", /^yaml: cannot decode !!str `x` as a !!int$/],
  ["a: 1\nb: [", /^yaml: line 2: did not find expected node content$/],
  ["a:\n\t- b", /^yaml: line 2: found character that cannot start any token$/],
  ["a: b: c", /^yaml: mapping values are not allowed in this context$/],
  ["a: b\nc: d: e", /^yaml: line 2: mapping values are not allowed in this context$/],
  ["a: b\nc", /^yaml: line 3: could not find expected ':'$/],
  ["a: b\n- c", /^yaml: line 1: did not find expected key$/],
  ["- b\nc: d", /^yaml: line 1: did not find expected '-' indicator$/],
  ['a: "b', /^yaml: line 1: found unexpected end of stream$|^yaml: found unexpected end of stream$/],
  ['a: "\\q"', /^yaml: found unknown escape character$/],
  ['a: "\\ud83d"', /^yaml: found invalid Unicode character escape code$/],
  ["a: @b", /^yaml: found character that cannot start any token$/],
  ["a: !x!y z", /^yaml: found undefined tag handle$/],
  ["a: &b &c d", /^yaml: did not find expected key$/],
  ["a: \u0001", /^yaml: control characters are not allowed$/],
  ["[a, b", /^yaml: line 1: did not find expected ',' or '\]'$/],
  ["{a: b", /^yaml: line 1: did not find expected ',' or '}'$/],
  ["[".repeat(1_000_000), /^yaml: exceeded max depth of 500$/],
  ["- ".repeat(1_000_000), /^yaml: exceeded max depth of 500$/],
  ["{a: ".repeat(500_000), /^yaml: exceeded max depth of 500$/],
  ["[1,".repeat(1) + "1,".repeat(500_000), /^yaml: exceeded max of 200000 words$/],
  [`a: &a [1]\nb: [${"*a,".repeat(500_000)}]`, /^yaml: document contains excessive aliasing$/],
];
for (const [text, message] of WRONG) {
  test(`${JSON.stringify(text.slice(0, 20))} is rejected: ${message.source.slice(0, 60)}`, () => {
    assert.throws(() => parse(text), { name: "YamlError", message });
  });
}

test("aliases of aliases are rejected before they become large", () => {
  const levels = Array.from("bcdefghijkl").map((name, index) => `${name}: &${name} [${`*${"abcdefghijkl"[index]},`.repeat(9)}]`);
  const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${levels.join("\n")}`;

  assert.throws(() => parse(bomb), { name: "YamlError", message: "yaml: document contains excessive aliasing" });
});

test("written YAML parses to an equal value", () => {
  const words = fc.constantFrom(
    "yes",
    "0777",
    "1e3",
    "~",
    "<<",
    "null",
    "2026-01-02",
    "a: b",
    "- x",
    "",
    "#",
    "*a",
    "é\n",
    "0o17",
    "+5",
    ".5",
    "y",
  );
  const value = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>;
  fc.assert(
    fc.property(fc.dictionary(fc.oneof(words, fc.string()), fc.oneof(words, value), { noNullPrototype: true }), (object) => {
      const expected = JSON.parse(JSON.stringify(object)) as Json;

      // Compared as text, since integers beyond 2^53 are bigints here. Member order is not kept.
      assert.deepEqual(JSON.parse(writeJson(parse(writeYaml(expected)).value)), expected);
    }),
    settings,
  );
});

const documentsOf = (text: string) => Array.from(parseYamlDocuments(bytes(text)), ({ value }) => value);

test("every document of a stream parses as it would alone", () => {
  assert.deepEqual(documentsOf("%YAML 1.2\n--- {a: yes}\n--- # b\nb: &x 0777\n...\n---\n# nothing\n--- [1, c]\n"), [
    { a: true },
    { b: 511 },
    null,
    [1, "c"],
  ]);
  const value = fc.dictionary(fc.string({ unit: "grapheme", maxLength: 5 }), fc.oneof(fc.string(), fc.integer(), fc.boolean()));
  fc.assert(
    fc.property(fc.array(fc.tuple(value, fc.boolean()), { minLength: 1 }), (values) => {
      const texts = values.map(([object, isJson]) => (isJson ? JSON.stringify(object, undefined, "\t") : writeYaml(object)));
      assert.deepEqual(
        documentsOf(texts.map((text) => `---\n${text}\n`).join("")),
        texts.map((text) => parse(text).value),
      );
    }),
    settings,
  );
});

test("duplicate keys and mistakes in a stream have their lines in the whole text", () => {
  const [, second] = parseYamlDocuments(bytes("a: 1\n---\nb: 1\nb: 2\n"));
  assert.deepEqual(second, { value: { b: 2 }, duplicates: ['line 4: key "b" already set in map'] });
  assert.throws(() => documentsOf("a: 1\n---\nb: [1\n---\nc: 1\n"), /^YamlError: yaml: line 4/);
});

test("the size limit of a document does not depend on those before it", () => {
  const large = `- ${"a, ".repeat(20)}\n`.replace("- ", "- [").replace(/, \n$/, "]\n").repeat(1_500);
  assert.equal(documentsOf(`---\n${large}`.repeat(3)).length, 3);
  assert.throws(() => documentsOf(large.repeat(4)), /^YamlError: yaml: exceeded max of 200000 words/);
});

test("YAML is written in upstream's style", () => {
  assert.equal(
    writeYaml({ b: [{ d: "yes", c: 1 }], a: "x".repeat(200), e: "a\nb\n" }),
    `a: ${"x".repeat(200)}\nb:\n- c: 1\n  d: "yes"\ne: |\n  a\n  b\n`,
  );
});

test("any text is parsed or rejected with a YamlError", () => {
  const letters = fc.constantFrom(...Array.from("ab1:-,?[]{}#&*!|>'\"%@` \n\t<~."));
  fc.assert(
    fc.property(fc.array(letters, { maxLength: 20 }), (parts) => {
      try {
        parse(parts.join(""));
      } catch (error) {
        assert.equal((error as Error).name, "YamlError");
      }
    }),
    settings,
  );
});

test("a text that looks like a timestamp is quoted, so that YAML 1.1 parsers keep it as text", () => {
  assert.equal(
    writeYaml({ date: "2026-01-02", time: "2026-01-02T03:04:05Z", version: "2026-01-02-beta" }),
    'date: "2026-01-02"\ntime: "2026-01-02T03:04:05Z"\nversion: 2026-01-02-beta\n',
  );
});
