import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { defineCommand, type CommandEntry } from "../framework/command.ts";
import { all } from "./all.ts";
import { commandHelp, overview } from "../framework/help.ts";

const copy = defineCommand({
  description: "Copies one thing to another place.",
  flags: {
    mode: { type: "choice", of: ["fast", "slow"], default: "fast", doc: "How to copy." },
    tag: { type: "list", placeholder: "WORD", doc: "Marks it." },
    to: { type: "number", required: true, doc: "Where to." },
    "a-flag-with-a-very-long-name-indeed": { type: "string", doc: "Has a line of its own." },
  },
  arguments: { file: { doc: "What to copy." }, other: { doc: "What else.", optional: true } },
  examples: ["k8ts copy a --to 1"],
  options: () => ({ ok: true, options: undefined }),
  run: async () => {},
});

test("the help of a command has its description, usage, arguments, flags with defaults and choices, and examples", () => {
  deepEqual(commandHelp("copy", copy), [
    "Copies one thing to another place.",
    "",
    "Usage: k8ts copy FILE [OTHER] [FLAGS]",
    "",
    "Arguments:",
    "  FILE   What to copy.",
    "  OTHER  What else.",
    "",
    "Flags:",
    "  --mode NAME                     How to copy. (fast or slow; default fast)",
    "  --tag WORD                      Marks it. (may be repeated)",
    "  --to NUMBER                     Where to. (required)",
    "  --a-flag-with-a-very-long-name-indeed VALUE",
    "                                  Has a line of its own.",
    "  --help                          Print this help and exit.",
    "  --verbose                       Enable debug logging and print stack traces of errors. Same as",
    "                                  K8TS_DEBUG=1.",
    "",
    "Examples:",
    "  k8ts copy a --to 1",
  ]);
});

test("the overview has a line for every command", () => {
  const entries: CommandEntry[] = [{ name: "copy", summary: "Copy a thing", load: async () => copy }];
  equal(overview(entries).includes("  copy     Copy a thing"), true);
});

test("every help text fits a terminal of 100 characters", async () => {
  const commands = await Promise.all(all.map(async ({ name, load }) => commandHelp(name, await load())));
  deepEqual(
    [...overview(all), ...commands.flat()].filter((line) => line.length > 100),
    [],
  );
});
