import { deepEqual, equal } from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { parseArguments, type FlagSet } from "./flags.ts";

const flags = {
  name: { type: "string", doc: "A name." },
  port: { type: "number", doc: "A port.", default: 80, min: 1, max: 65_535 },
  mode: { type: "choice", of: ["fast", "slow"], default: "fast", doc: "A mode." },
  "dry-run": { type: "boolean", doc: "Do nothing." },
  server: { type: "list", doc: "Servers.", expects: (value) => (value.startsWith("http") ? undefined : "an address") },
} as const satisfies FlagSet;

const declared = { flags, arguments: { file: { doc: "Where to write." }, more: { doc: "More.", optional: true } } } as const;

const DEFAULTS = { name: undefined, port: 80, mode: "fast", "dry-run": false, server: [], file: "f", more: undefined };

describe("flags are parsed into values", () => {
  for (const { argv, values } of [
    { argv: ["f"], values: {} },
    { argv: ["--name", "a", "f"], values: { name: "a" } },
    { argv: ["--name=a", "f"], values: { name: "a" } },
    { argv: ["f", "--name=a=b"], values: { name: "a=b" } },
    { argv: ["f", "--name=-x"], values: { name: "-x" } },
    { argv: ["f", "--name", "-"], values: { name: "-" } },
    { argv: ["f", "--port", "8080"], values: { port: 8080 } },
    { argv: ["f", "--mode=slow"], values: { mode: "slow" } },
    { argv: ["f", "--dry-run"], values: { "dry-run": true } },
    { argv: ["--dry-run", "f"], values: { "dry-run": true } },
    { argv: ["f", "--dry-run=false"], values: { "dry-run": false } },
    { argv: ["f", "--server", "http://a,http://b", "--server=http://c"], values: { server: ["http://a", "http://b", "http://c"] } },
    { argv: ["f", "g"], values: { more: "g" } },
    { argv: ["f", "--", "--name"], values: { more: "--name" } },
    { argv: ["-"], values: { file: "-" } },
  ]) {
    test(argv.join(" "), () => {
      const parsed = parseArguments(declared, argv);
      deepEqual(parsed.problems, []);
      deepEqual(parsed.values, { ...DEFAULTS, ...values });
    });
  }
});

describe("a problem names the expected value", () => {
  for (const { argv, problems } of [
    { argv: [], problems: ["FILE is missing: Where to write."] },
    { argv: [""], problems: ["FILE is missing: Where to write."] },
    { argv: ["f", "--nmae=x"], problems: ['Unknown flag "--nmae"; did you mean --name?'] },
    { argv: ["f", "--frobnicate"], problems: ['Unknown flag "--frobnicate"'] },
    { argv: ["f", "-n"], problems: ['Unknown flag "-n"'] },
    { argv: ["f", "-name"], problems: ['Unknown flag "-name"; did you mean --name?'] },
    { argv: ["f", "--constructor"], problems: ['Unknown flag "--constructor"'] },
    { argv: ["f", "--\u001b[31m"], problems: ['Unknown flag "--\\u001b[31m"'] },
    { argv: ["f", "--name"], problems: ["--name requires a value: VALUE"] },
    { argv: ["f", "--name", "--dry-run"], problems: ["--name requires a value: VALUE"] },
    { argv: ["f", "--name="], problems: ["--name must not be empty"] },
    { argv: ["f", "--name=a", "--name=b"], problems: ['--name is set twice: "a" and "b"'] },
    { argv: ["f", "--port", "-1"], problems: ['--port must be an integer from 1 to 65535, is "-1"'] },
    { argv: ["f", "--port", "-x"], problems: ["--port requires a value: NUMBER", 'Unknown flag "-x"'] },
    { argv: ["f", "--port=0"], problems: ['--port must be an integer from 1 to 65535, is "0"'] },
    { argv: ["f", "--port=1.5"], problems: ['--port must be an integer from 1 to 65535, is "1.5"'] },
    { argv: ["f", "--port=0x10"], problems: ['--port must be an integer from 1 to 65535, is "0x10"'] },
    { argv: ["f", "--mode=medium"], problems: ['--mode must be fast or slow, is "medium"'] },
    { argv: ["f", "--dry-run=yes"], problems: ['--dry-run must be true or false, is "yes"'] },
    { argv: ["f", "--server=http://a,b"], problems: ['--server must be an address, is "b"'] },
    { argv: ["f", "g", "h", "i"], problems: ['Unexpected argument "h"', 'Unexpected argument "i"'] },
    {
      argv: ["--frob", "--port=x", "--mode=x", "--server=x"],
      problems: [
        'Unknown flag "--frob"',
        '--port must be an integer from 1 to 65535, is "x"',
        '--mode must be fast or slow, is "x"',
        '--server must be an address, is "x"',
        "FILE is missing: Where to write.",
      ],
    },
  ]) {
    test(argv.join(" ") || "nothing at all", () => deepEqual(parseArguments(declared, argv).problems, problems));
  }
});

test("a missing required flag is reported once, with its placeholder, and so is an invalid one", () => {
  const required = {
    flags: { to: { type: "number", required: true, min: 1, placeholder: "REVISION", doc: "Where to." } },
    arguments: {},
  } as const;
  deepEqual(parseArguments(required, []).problems, ["--to is missing: REVISION"]);
  deepEqual(parseArguments(required, ["--to=x"]).problems, ['--to must be an integer of 1 or more, is "x"']);
  equal(parseArguments(required, ["--to=7"]).values.to, 7);
});

test("the parser never throws, and either reports a problem or returns every flag with its type", () => {
  const word = fc.oneof(fc.constantFrom("--", "-", "--name", "--port=1", "--dry-run", "--server", "--mode=slow", "f", ""), fc.string());
  fc.assert(
    fc.property(fc.array(word, { maxLength: 8 }), (argv) => {
      const { values, problems } = parseArguments(declared, argv);
      if (problems.length > 0) return;
      equal(typeof values.port, "number");
      equal(typeof values["dry-run"], "boolean");
      equal(Array.isArray(values.server), true);
      equal(values.file === "", false);
    }),
  );
});
