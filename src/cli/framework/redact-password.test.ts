import { equal } from "node:assert/strict";
import { test } from "node:test";
import { redactPassword } from "./redact-password.ts";

for (const [text, shown] of [
  ["https://user:password@host:1/a@b", "https://…@host:1/a@b"],
  ["https://token@host", "https://…@host"],
  ["https://a:b@c@host", "https://…@host"],
  ["https://host/a?b=c@d", "https://host/a?b=c@d"],
  ["http://a:b@x,http://c:d@y", "http://…@x,http://…@y"],
  ["user@host", "user@host"],
  ["", ""],
]) {
  test(`"${text}" is shown as "${shown}"`, () => equal(redactPassword(text ?? ""), shown));
}
