import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { inputMessage, readMessage, sizeMessage } from "./exec-channels.ts";

const bytes = (channel: number, text: string) => Uint8Array.of(channel, ...new TextEncoder().encode(text));
const status = (value: object) => bytes(3, JSON.stringify(value));
const causes = [{ reason: "ExitCode", message: "127" }];

test("input and the size of the terminal have their channels", () => {
  deepEqual(inputMessage(new TextEncoder().encode("ls\r")), bytes(0, "ls\r"));
  deepEqual(sizeMessage({ columns: 80, rows: 24 }), bytes(4, '{"Width":80,"Height":24}'));
});

for (const { it, message, wanted } of [
  { it: "stdout", message: bytes(1, "a"), wanted: { is: "output", bytes: Uint8Array.of(97) } },
  { it: "stderr", message: bytes(2, "a"), wanted: { is: "output", bytes: Uint8Array.of(97) } },
  { it: "success", message: status({ status: "Success" }), wanted: { is: "outcome", outcome: { exitCode: 0, message: "" } } },
  {
    it: "an exit code",
    message: status({ status: "Failure", message: "command terminated", reason: "NonZeroExitCode", details: { causes } }),
    wanted: { is: "outcome", outcome: { exitCode: 127, message: "command terminated" } },
  },
  {
    it: "a failure to start",
    message: status({ status: "Failure", message: "no such container" }),
    wanted: { is: "outcome", outcome: { message: "no such container" } },
  },
  { it: "an outcome that is no JSON", message: bytes(3, "broken"), wanted: { is: "outcome", outcome: { message: "broken" } } },
  { it: "an empty message", message: new Uint8Array(), wanted: { is: "other" } },
  { it: "an unknown channel", message: bytes(9, "x"), wanted: { is: "other" } },
])
  test(`a message of the server: ${it}`, () => {
    deepEqual(readMessage(message), wanted);
  });
