import assert from "node:assert/strict";
import test from "node:test";
import { timeZoneProblem } from "./time-zones.ts";

for (const name of ["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+5", "US/Pacific", "GB-Eire", "", "Local"]) {
  test(`"${name}" is a time zone`, () => {
    assert.equal(timeZoneProblem(name), undefined);
  });
}

const PROBLEMS: readonly [name: string, problem: string][] = [
  ["europe/berlin", "unknown time zone europe/berlin"],
  ["Europe", "unknown time zone Europe"],
  ["constructor", "unknown time zone constructor"],
  ["../UTC", "time: invalid location name"],
  ["/UTC", "time: invalid location name"],
  ["\\UTC", "time: invalid location name"],
];

for (const [name, problem] of PROBLEMS) {
  test(`"${name}" is not a time zone`, () => {
    assert.equal(timeZoneProblem(name), problem);
  });
}
