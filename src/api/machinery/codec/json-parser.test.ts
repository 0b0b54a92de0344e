import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { rounds, testSeed } from "../../../testing/rounds.ts";
import { writeJson } from "./json.ts";
import { DEPTH_MAX, JsonSyntaxError, MISTAKES_MAX, parseExactly } from "./json-parser.ts";
import { POD } from "./testing/schemas.ts";

const settings = { seed: testSeed(), numRuns: rounds({ quick: 1_000, full: 50_000 }) };

test("the exact parser agrees with JSON.parse on documents without duplicates", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), (random) => {
      // Lone surrogates are replaced here, as in Go.
      const text = random.replaceAll(/\\u[dD][89a-fA-F][0-9a-fA-F]{2}/g, "?");

      const { value, mistakes } = parseExactly(text);

      // Compared as text, since integers beyond 2^53 are bigints here.
      assert.equal(writeJson(value), JSON.stringify(JSON.parse(text)));
      assert.deepEqual(mistakes, []);
    }),
    settings,
  );
});

test("the exact parser rejects exactly the texts that JSON.parse rejects", () => {
  const letters = Array.from('{}[]":,truefalsn\\u0019.-+eE \n\t\u0001').map((letter) => fc.constant(letter));
  fc.assert(
    fc.property(fc.array(fc.oneof(...letters), { maxLength: 12 }), (parts) => {
      const text = parts.join("");
      let refused = false;
      try {
        JSON.parse(text);
      } catch {
        refused = true;
      }
      if (refused) assert.throws(() => parseExactly(text), JsonSyntaxError);
      else parseExactly(text);
    }),
    settings,
  );
});

/** Messages of Go 1.26. */
const MESSAGES: readonly (readonly [text: string, message: string])[] = [
  ["", "unexpected end of JSON input"],
  ["{", "unexpected end of JSON input"],
  ['{"a', "unexpected end of JSON input"],
  ["tru", "unexpected end of JSON input"],
  ["-", "unexpected end of JSON input"],
  ["x", "invalid character 'x' looking for beginning of value"],
  ["'a'", "invalid character '\\'' looking for beginning of value"],
  ["é", "invalid character 'Ã' looking for beginning of value"],
  ["\u0000", "invalid character '\\x00' looking for beginning of value"],
  ["[1,]", "invalid character ']' looking for beginning of value"],
  ["[1 2]", "invalid character '2' after array element"],
  ["{a:1}", "invalid character 'a' looking for beginning of object key string"],
  ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
  ['{"a" 1}', "invalid character '1' after object key"],
  ['{"a":1 "b":2}', "invalid character '\"' after object key:value pair"],
  ["{} {}", "invalid character '{' after top-level value"],
  ['"a\nb"', "invalid character '\\n' in string literal"],
  ['"\\x"', "invalid character 'x' in string escape code"],
  ['"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape"],
  ["-x", "invalid character 'x' in numeric literal"],
  ["01", "invalid character '1' after top-level value"],
  ["1.x", "invalid character 'x' after decimal point in numeric literal"],
  ["1ex", "invalid character 'x' in exponent of numeric literal"],
  ["trux", "invalid character 'x' in literal true (expecting 'e')"],
  ["nulx", "invalid character 'x' in literal null (expecting 'l')"],
  ["1e400", "json: cannot unmarshal number 1e400 into Go value of type float64"],
  ["[".repeat(DEPTH_MAX + 1), "invalid character '[' exceeded max depth"],
];
for (const [text, message] of MESSAGES) {
  test(`${JSON.stringify(text.slice(0, 20))} is rejected with: ${message}`, () => {
    assert.throws(() => parseExactly(text), { name: "JsonSyntaxError", message });
  });
}

test("with a schema the exact parser lists unknown and duplicate fields in document order, and does not look into unknown fields", () => {
  const text = `{"spec":{"foo":1,"containers":[{"foo":1,"name":"a","name":"b"}],"nodeSelector":{"a":"1","a":"2"},"containers":[]},
    "x":{"y":1,"y":2},"extension":{"a":1,"a":2}}`;

  const { mistakes } = parseExactly(text, POD);

  assert.deepEqual(
    mistakes.map(({ what, path }) => `${what} ${path}`),
    [
      "unknown spec.foo",
      "unknown spec.containers[0].foo",
      "duplicate spec.containers[0].name",
      "duplicate spec.nodeSelector.a",
      "duplicate spec.containers",
      "unknown x",
    ],
  );
});

test("each mistake is listed once, up to the limit", () => {
  assert.equal(parseExactly('{"a":1,"a":1,"a":1}').mistakes.length, 1);
  const many = Array.from({ length: 200 }, (_, index) => `"k${index}":1,"k${index}":1`).join(",");
  assert.equal(parseExactly(`{${many}}`).mistakes.length, MISTAKES_MAX);
});
