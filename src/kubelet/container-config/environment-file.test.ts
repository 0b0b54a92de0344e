import assert from "node:assert/strict";
import { test } from "node:test";
import { environmentFileValue, EnvironmentFileError } from "./environment-file.ts";

const read: readonly (readonly [what: string, text: string, value: string | undefined])[] = [
  ["a quoted value", "KEY='value'\n", "value"],
  ["the first of two wins", "KEY='1'\nKEY='2'\n", "1"],
  ["a key after others", "\n# comment\n  OTHER='x' # and why\n\tKEY='v'", "v"],
  ["a value of several lines", "OTHER='a\nKEY=b'\nKEY='one\n two\n'", "one\n two\n"],
  ["shell expansions are literal", `KEY='$HOME \\n "x"'`, `$HOME \\n "x"`],
  ["Windows line endings", "KEY='v'\r\n", "v"],
  ["a space before the value makes it empty", "KEY= 'v'\n", ""],
  ["an empty value", "KEY=''\n", ""],
  ["a missing key", "OTHER='x'\n", undefined],
  ["an error after the key is ignored", "KEY='v'\nwhat\n", "v"],
];

for (const [what, text, value] of read) {
  test(`parsing an environment file: ${what}`, () => {
    assert.equal(environmentFileValue(text, "KEY"), value);
  });
}

const wrong: readonly (readonly [text: string, message: string])[] = [
  ["KEY\n", "invalid environment variable format at line 1: missing '='"],
  ["\n='v'\n", "invalid environment variable format at line 2: empty variable name"],
  ["KEY ='v'\n", "invalid environment variable format at line 1: whitespace before '=' is not allowed"],
  ["KEY=v\n", "invalid environment variable format at line 1: value must be enclosed in single quotes"],
  ["KEY=\n", "invalid environment variable format at line 1: value must be enclosed in single quotes"],
  ["KEY='a\nb' c\n", "invalid environment variable format at line 2: unexpected content after closing quote"],
  ["\nKEY='a\nb\n", "invalid environment variable format starting at line 2: unclosed single quote"],
];

for (const [text, message] of wrong) {
  test(`${JSON.stringify(text)} is rejected as an environment file`, () => {
    assert.throws(() => environmentFileValue(text, "KEY"), new EnvironmentFileError(message));
  });
}
