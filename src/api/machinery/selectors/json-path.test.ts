import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { jsonPathProblem } from "./json-path.ts";

const GOOD = [
  "no path at all",
  "{.spec.containers[0].name}",
  "{.a}{.b} and {.c}",
  "{..name}",
  "{.items[*].metadata['name', 'namespace']}",
  "{.items[-1:]['a.b']}",
  "{.a[1:2:3]}{.b[]}",
  '{.items[?(@.name=="x)y")].value}',
  "{.items[?(@.name)].value}",
  "{range .items}{'\\t'}{end}",
  "{1.5}{true}{.a\\.b}{$.x}",
];

for (const path of GOOD) {
  test(`${path} is a valid JSONPath`, () => {
    assert.equal(jsonPathProblem(path), undefined);
  });
}

const BAD: readonly [path: string, problem: string][] = [
  ["{.spec", "unclosed action"],
  ["{.a\n}", "unclosed action"],
  ["{!}", "unrecognized character in action: U+0021 '!'"],
  ["{.a[0}", "unterminated array"],
  ["{.a[x]}", "invalid array index x"],
  ["{.a[-]}", "array index - is not a number"],
  ["{.a[0,x]}", "invalid array index x"],
  ["{.a['b !c']}", "unrecognized character in action: U+0021 '!'"],
  ["{....a}", "invalid multiple recursive descent"],
  ["{1.2.3}", "cannot parse number 1.2.3"],
  ["{'a}", "unterminated quoted string"],
  ["{'\\q'}", "unquote string '\\q' error invalid syntax"],
  ["{.a[?(@.b}", "unterminated filter"],
  ["{.a[?(@.b)}", "unclosed array expect ]"],
  ["{.a[?(@.b==!)]}", "unrecognized character in action: U+0021 '!'"],
];

for (const [path, problem] of BAD) {
  test(`${JSON.stringify(path)} is rejected: ${problem}`, () => {
    assert.equal(jsonPathProblem(path), problem);
  });
}

test("validating any text terminates without an exception", () => {
  const pieces = fc.constantFrom("{", "}", "[", "]", "[?(", ")", "..", ".", "'", '"', "\\", "a", "1", "-", ",", " ", "=", "\n", "ß");
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 40 }), (parts) => {
      jsonPathProblem(parts.join(""));
    }),
  );
});
