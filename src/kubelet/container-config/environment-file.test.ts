import assert from "node:assert/strict";
import { test } from "node:test";
import { environmentFileValue, EnvironmentFileError } from "./environment-file.ts";

const read: readonly (readonly [what: string, text: string, value: string | undefined])[] = [
  ["a value between quotes", "KEY='value'\n", "value"],
  ["the first of two", "KEY='1'\nKEY='2'\n", "1"],
  ["one after others", "\n# comment\n  OTHER='x' # and why\n\tKEY='v'", "v"],
  ["several lines", "OTHER='a\nKEY=b'\nKEY='one\n two\n'", "one\n two\n"],
  ["what a shell would expand", `KEY='$HOME \\n "x"'`, `$HOME \\n "x"`],
  ["lines that end as on Windows", "KEY='v'\r\n", "v"],
  ["nothing, if a space stands before the value", "KEY= 'v'\n", ""],
  ["nothing, if the value is empty", "KEY=''\n", ""],
  ["no such key", "OTHER='x'\n", undefined],
  ["a mistake after the key", "KEY='v'\nwhat\n", "v"],
];

for (const [what, text, value] of read) {
  test(`a file with variables is read: ${what}`, () => {
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
  test(`${JSON.stringify(text)} is no file with variables`, () => {
    assert.throws(() => environmentFileValue(text, "KEY"), new EnvironmentFileError(message));
  });
}
