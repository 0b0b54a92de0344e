import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { readInterPodAffinityArguments } from "./arguments.ts";

test("empty arguments are upstream's defaults", () => {
  const defaults = { ok: true, arguments: { hardPodAffinityWeight: 1, ignorePreferredTermsOfExistingPods: false } };

  deepEqual([readInterPodAffinityArguments(undefined), readInterPodAffinityArguments({})], [defaults, defaults]);
});

for (const { written, problems } of [
  { written: { hardPodAffinityWeight: 0, ignorePreferredTermsOfExistingPods: true }, problems: [] },
  { written: { hardPodAffinityWeight: 101 }, problems: ["hardPodAffinityWeight: Invalid value: 101: not in valid range [0, 100]"] },
  { written: { hardPodAffinityWeight: -1 }, problems: ["hardPodAffinityWeight: Invalid value: -1: not in valid range [0, 100]"] },
  { written: { hardWeight: 1 }, problems: ['unknown field "hardWeight"'] },
]) {
  test(`the arguments ${JSON.stringify(written)} have ${problems.length} problems`, () => {
    const read = readInterPodAffinityArguments(written);

    deepEqual(read.ok ? [] : read.problems, problems);
  });
}
