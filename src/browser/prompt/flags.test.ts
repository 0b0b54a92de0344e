import { deepEqual, throws } from "node:assert/strict";
import { describe, test } from "node:test";
import { parseArguments, UsageError, wholeNumber } from "./flags.ts";

const SPECS = { namespace: { short: "n" }, watch: { isSwitch: true, short: "w" }, all: { isSwitch: true, short: "A" } } as const;

describe("arguments are parsed like kubectl's", () => {
  const rows = [
    { words: "pods -n shop", gives: { positional: ["pods"], flags: { namespace: "shop" } } },
    { words: "-nshop pods", gives: { positional: ["pods"], flags: { namespace: "shop" } } },
    { words: "pods --namespace=shop -w", gives: { positional: ["pods"], flags: { namespace: "shop", watch: "true" } } },
    { words: "pods -wA", gives: { positional: ["pods"], flags: { watch: "true", all: "true" } } },
    { words: "- -- -x", gives: { positional: ["-", "-x"], flags: {} } },
  ];
  for (const { words, gives } of rows) test(words, () => deepEqual(parseArguments(words.split(" "), SPECS), gives));
});

describe("mistakes in arguments have kubectl's messages", () => {
  const rows = [
    { words: "--wrong", message: "unknown flag: --wrong" },
    { words: "-x", message: "unknown shorthand flag: 'x' in -x" },
    { words: "pods --namespace", message: "flag needs an argument: --namespace" },
    { words: "pods -n", message: "flag needs an argument: 'n' in -n" },
  ];
  for (const { words, message } of rows) test(words, () => throws(() => parseArguments(words.split(" "), SPECS), new UsageError(message)));
});

test("a number that is none is refused with kubectl's message", () =>
  throws(
    () => wholeNumber("replicas", "two"),
    new UsageError('invalid argument "two" for "--replicas" flag: strconv.ParseInt: parsing "two": invalid syntax'),
  ));
