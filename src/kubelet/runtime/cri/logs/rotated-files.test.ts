import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { isLater, wholeFiles } from "./rotated-files.ts";

for (const { title, files, expected } of [
  { title: "no rotated file", files: [], expected: [] },
  { title: "compressed or not", files: ["l.1.gz", "l.2"], expected: ["l.1.gz", "l.2"] },
  { title: "one that is being compressed", files: ["l.1", "l.1.tmp"], expected: ["l.1"] },
  { title: "one that was just compressed", files: ["l.1", "l.1.gz", "l.2"], expected: ["l.1", "l.2"] },
]) {
  test(`the rotated files of a log are listed once each: ${title}`, () => deepEqual(wholeFiles(files), expected));
}

for (const { a, b, expected } of [
  { a: { atMs: 2, time: "b" }, b: { atMs: 1, time: "c" }, expected: true },
  { a: { atMs: 1, time: "c" }, b: { atMs: 2, time: "b" }, expected: false },
  { a: { atMs: 1, time: "b" }, b: { atMs: 1, time: "a" }, expected: true },
  { a: { atMs: 1, time: "a" }, b: { atMs: 1, time: "a" }, expected: false },
]) {
  test(`${a.atMs} ms, written as "${a.time}", is ${expected ? "" : "not "}later than ${b.atMs} ms, written as "${b.time}"`, () =>
    equal(isLater(a, b), expected));
}
