import { deepEqual, equal, match } from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";

/** Runs the functions in a process with this environment. */
function inEnvironment(environment: Readonly<Record<string, string>>) {
  const { K8TS_TORTURE: _torture, K8TS_SEED: _seed, ...others } = process.env;
  const script = `const { rounds, testSeed } = await import(${JSON.stringify(new URL("rounds.js", import.meta.url).href)});
    console.log(JSON.stringify([rounds({ quick: 2, full: 20 }), testSeed()]));`;
  return spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8", env: { ...others, ...environment } });
}

test("rounds defaults to a quick run with seed 1", () => deepEqual(JSON.parse(inEnvironment({}).stdout), [2, 1]));

test("the environment selects full counts and another seed", () => {
  deepEqual(JSON.parse(inEnvironment({ K8TS_TORTURE: "1", K8TS_SEED: "8421" }).stdout), [20, 8421]);
});

test("a seed that is not a whole number is rejected", () => {
  const { status, stderr } = inEnvironment({ K8TS_SEED: "many" });
  equal(status, 1);
  match(stderr, /Cannot use K8TS_SEED: it must be a whole number, is "many"/);
});
