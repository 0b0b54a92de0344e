import { deepEqual, equal } from "node:assert/strict";
import { describe, test } from "node:test";
import { silentLogger } from "../../base/logger.ts";
import { realClock } from "../../host/real-clock.ts";
import { defineCommand, type CommandEntry, type Environment } from "./command.ts";
import { describeError, dispatch } from "./dispatch.ts";

/** A command that says what it was given, or fails with what `fail` names. */
function echo(fail?: Error): CommandEntry["load"] {
  return async () =>
    defineCommand({
      description: "Says what it was given.",
      flags: {
        size: { type: "number", default: 1, doc: "A size." },
        shape: { type: "choice", of: ["round", "flat"], default: "flat", doc: "A shape." },
      },
      arguments: { thing: { doc: "Anything.", optional: true } },
      examples: [],
      options: ({ size, shape, thing }) =>
        shape === "round" && size > 1
          ? { ok: false, problems: ["--size must be 1 with --shape round"] }
          : { ok: true, options: { size, thing } },
      fileProblems: async ({ thing }) => (thing === "/none" ? ["Cannot read /none with --shape", "Cannot read /none"] : []),
      async run(options, io) {
        if (fail !== undefined) throw fail;
        io.out(JSON.stringify(options));
      },
    });
}

const broken = new Error("Cannot open the box: it is locked", { cause: new Error("no key") });

/** A command whose words are another program's. */
const passing: CommandEntry["load"] = async () => ({
  ...{ description: "Passes words on.", flags: {}, arguments: {}, examples: [] },
  parse: (argv) => ({ ok: true, options: argv }),
  run: async (options, io) => io.out(JSON.stringify(options)),
});

const ENTRIES: readonly CommandEntry[] = [
  { name: "echo", summary: "Say it", load: echo() },
  { name: "pass", summary: "Pass words on", passesThrough: true, load: passing },
  { name: "break", summary: "Fail", load: echo(broken) },
  { name: "store status", summary: "Show", load: echo() },
  { name: "store status all", summary: "Show all", load: echo() },
  { name: "store compact", summary: "Forget", load: echo() },
];

async function run(words: string, environment: Environment = {}) {
  const out: string[] = [];
  const notes: string[] = [];
  const io = { out: (line: string) => void out.push(line), note: (line: string) => void notes.push(line), environment };
  let verbose: boolean | undefined;
  const code = await dispatch(words === "" ? [] : words.split(" "), ENTRIES, {
    ...io,
    version: "1.2.3",
    async openIo(options) {
      verbose = options.verbose;
      return { ...io, clock: realClock, log: silentLogger, signal: new AbortController().signal };
    },
  });
  return { code, out, notes, verbose };
}

for (const { words, out, isVerbose } of [
  { words: "pass get --help -- x --verbose", out: ["get", "--help", "--", "x", "--verbose"], isVerbose: false },
  { words: "--verbose pass get -h", out: ["get", "-h"], isVerbose: true },
  { words: "pass", out: [], isVerbose: false },
]) {
  test(`k8ts ${words}: all arguments after a pass-through command belong to the other program`, async () => {
    const { code, out: said, verbose } = await run(words);
    deepEqual([code, said, verbose], [0, [JSON.stringify(out)], isVerbose]);
  });
}

test("--help directly after a pass-through command shows the command's own help", async () => {
  equal((await run("pass --help get")).out[0], "Passes words on.");
});

describe("a command line is dispatched to its command", () => {
  for (const { words, says } of [
    { words: "echo", says: `{"size":1}` },
    { words: "echo a --size 2", says: `{"size":2,"thing":"a"}` },
    { words: "--verbose echo a", says: `{"size":1,"thing":"a"}` },
    { words: "echo -- --help", says: `{"size":1,"thing":"--help"}` },
    { words: "store status", says: `{"size":1}` },
    { words: "store status a", says: `{"size":1,"thing":"a"}` },
    { words: "store status all", says: `{"size":1}` },
    { words: "--version", says: "k8ts 1.2.3" },
    { words: "version", says: "k8ts 1.2.3" },
  ]) {
    test(words, async () => {
      const { code, out, notes } = await run(words);
      deepEqual({ code, out, notes }, { code: 0, out: [says], notes: [] });
    });
  }
});

describe("an invalid command line exits with 2, before anything is started", () => {
  const LIST = "k8ts --help lists the commands";
  for (const { words, notes } of [
    { words: "ehco", notes: ['Unknown command "ehco"; did you mean "echo"?', LIST] },
    { words: "frobnicate", notes: ['Unknown command "frobnicate"', LIST] },
    { words: "help frobnicate", notes: ['Unknown command "frobnicate"', LIST] },
    { words: "frobnicate --help", notes: ['Unknown command "frobnicate"', LIST] },
    { words: "--frob", notes: ['Unknown flag "--frob"', LIST] },
    {
      words: "store statsu",
      notes: ['Unknown command "store statsu"; did you mean "store status"?', "k8ts store --help lists the commands"],
    },
    {
      words: "echo --size x --frob a b",
      notes: [
        '--size must be an integer, is "x"',
        'Unknown flag "--frob"',
        'Unexpected argument "b"',
        "k8ts echo --help describes the flags",
      ],
    },
    {
      words: "echo --size 2 --shape round --frob",
      notes: ['Unknown flag "--frob"', "--size must be 1 with --shape round", "k8ts echo --help describes the flags"],
    },
    { words: "echo /none", notes: ["Cannot read /none with --shape", "Cannot read /none", "k8ts echo --help describes the flags"] },
    // Files are looked at also if words were refused, but not what is said of refused words.
    {
      words: "echo /none --shape square",
      notes: ['--shape must be round or flat, is "square"', "Cannot read /none", "k8ts echo --help describes the flags"],
    },
    // An invalid combination with a rejected flag is not reported: it may result from the default.
    {
      words: "echo --size 2 --shape square",
      notes: ['--shape must be round or flat, is "square"', "k8ts echo --help describes the flags"],
    },
  ]) {
    test(words, async () => deepEqual(await run(words), { code: 2, out: [], notes, verbose: undefined }));
  }

  test("a command group without a command lists its commands", async () => {
    const { code, notes } = await run("store");
    equal(code, 2);
    deepEqual(notes.slice(2), ["Commands:", "  store status      Show", "  store status all  Show all", "  store compact     Forget"]);
  });
});

describe("help is printed and the command does not run", () => {
  for (const { words, first } of [
    { words: "", first: "k8ts is a complete Kubernetes in one program." },
    { words: "--help", first: "k8ts is a complete Kubernetes in one program." },
    { words: "-h", first: "k8ts is a complete Kubernetes in one program." },
    { words: "help", first: "k8ts is a complete Kubernetes in one program." },
    { words: "help echo", first: "Says what it was given." },
    { words: "echo --help", first: "Says what it was given." },
    { words: "echo -h --size nonsense", first: "Says what it was given." },
    { words: "break --help", first: "Says what it was given." },
    { words: "store --help", first: "Usage: k8ts store COMMAND [FLAGS]" },
    { words: "help store status", first: "Says what it was given." },
  ]) {
    test(words === "" ? "nothing typed" : words, async () => {
      const { code, out, notes, verbose } = await run(words);
      deepEqual({ code, first: out[0], notes, verbose }, { code: 0, first, notes: [], verbose: undefined });
    });
  }
});

describe("a failed command exits with 1", () => {
  test("with its message and causes, without a stack", async () => {
    const { code, out, notes } = await run("break");
    deepEqual({ code, out, notes }, { code: 1, out: [], notes: ["Error: Cannot open the box: it is locked\n  caused by: no key"] });
  });

  for (const { how, words, environment } of [
    { how: "--verbose", words: "break --verbose", environment: {} },
    { how: "K8TS_DEBUG=1", words: "break", environment: { K8TS_DEBUG: "1" } },
  ]) {
    test(`with the stack if requested by ${how}`, async () => {
      const { notes, verbose } = await run(words, environment);
      equal(verbose, true);
      equal(
        /^Error: Cannot open the box: it is locked\n +at .*\n(.*\n)* +caused by: no key\n +at /.test(notes.join("\n")),
        true,
        notes.join("\n"),
      );
    });
  }
});

describe("the description of an error adds what its message does not include", () => {
  for (const { it, error, says } of [
    {
      it: "a cause that the message quotes",
      error: new Error("Cannot read: EIO", { cause: new Error("EIO") }),
      says: "Error: Cannot read: EIO",
    },
    {
      it: "a chain of causes",
      error: new Error("a", { cause: new Error("b", { cause: new Error("c") }) }),
      says: "Error: a\n  caused by: b\n  caused by: c",
    },
    {
      it: "several errors",
      error: new AggregateError([new Error("x"), new Error("y", { cause: new Error("z") })], "Two failed"),
      says: "Error: Two failed\n  caused by: x\n  caused by: y\n  caused by: z",
    },
    { it: "something that is no error", error: "oops", says: "Error: oops" },
  ]) {
    test(it, () => equal(describeError(error, false), says));
  }
});
