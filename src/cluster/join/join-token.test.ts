import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { withoutToken } from "./join-token.ts";

const COMMANDS: readonly (readonly [line: string, expected: string])[] = [
  ["join 192.0.2.1:6443 --token abcdef.0123456789abcdef --detach", "join 192.0.2.1:6443 --detach --token-file=-"],
  ["join --token=abcdef.0123456789abcdef 192.0.2.1:6443", "join 192.0.2.1:6443 --token-file=-"],
  ["join 192.0.2.1:6443 --token-file - --name a", "join 192.0.2.1:6443 --name a --token-file=-"],
  ["join 192.0.2.1:6443 --token-file=-", "join 192.0.2.1:6443 --token-file=-"],
];

for (const [line, expected] of COMMANDS) {
  test(`the background process of "${line.replace(/abcdef\.\w+/, "TOKEN")}" has no token in its command line`, () =>
    deepEqual(withoutToken(line.split(" ")), expected.split(" ")));
}
