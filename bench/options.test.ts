import { deepEqual, match } from "node:assert/strict";
import { test } from "node:test";
import type { Benchmark } from "./benchmark.ts";
import { parseBenchOptions, usage } from "./options.ts";

const none: Benchmark["run"] = async function* () {};
const commits: Benchmark = { name: "store/commits", measures: "How fast it is", run: none };
const large: Benchmark = { name: "store/large", measures: "How large it gets", run: none };
const start: Benchmark = { name: "start", measures: "How soon it is there", run: none };
const all = [commits, large, start];
const defaults = { directory: "/tmp" };

for (const { argv, expected } of [
  { argv: [], expected: { benchmarks: all, directory: "/tmp", json: undefined, isFull: false } },
  { argv: ["store"], expected: { benchmarks: [commits, large], directory: "/tmp", json: undefined, isFull: false } },
  { argv: ["start", "store/large"], expected: { benchmarks: [large, start], directory: "/tmp", json: undefined, isFull: false } },
  { argv: ["--json", "a.json", "--directory=/data"], expected: { benchmarks: all, directory: "/data", json: "a.json", isFull: false } },
  { argv: ["start", "--full"], expected: { benchmarks: [start], directory: "/tmp", json: undefined, isFull: true } },
  { argv: ["store", "--help"], expected: { help: true } },
  { argv: ["stor", "start", "x"], expected: { problem: 'Cannot find the benchmark "stor", "x"' } },
]) {
  test(`the command line is parsed: ${argv.join(" ") || "(empty)"}`, () => {
    deepEqual(parseBenchOptions(argv, all, defaults), expected);
  });
}

for (const argv of [["--jsn"], ["--json"], ["--help=x"]]) {
  test(`the command line is rejected: ${argv.join(" ")}`, () => {
    match((parseBenchOptions(argv, all, defaults) as { problem: string }).problem, /--(jsn|json|help)/);
  });
}

test("the help lists every benchmark with its description", () => {
  match(usage(all), /store\/commits {2}How fast it is\n {2}store\/large {4}How large it gets\n {2}start/);
});
