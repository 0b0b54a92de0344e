import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { ControllerRevision } from "../../../api/generated/apps/v1.ts";
import { byRevision, nextRevisionNumber } from "./history.ts";

function aRevision(name: string, revision: number, second = 0): ControllerRevision {
  const creationTimestamp = `2026-01-01T00:00:0${second}Z`;
  return { apiVersion: "apps/v1", kind: "ControllerRevision", metadata: { name, creationTimestamp }, data: {}, revision };
}

test("revisions are ordered by number, then by creation, then by name", () => {
  const revisions = [aRevision("d", 3), aRevision("c", 2, 1), aRevision("b", 2), aRevision("a", 2), aRevision("e", 1, 9)];

  const names = revisions.toSorted(byRevision).map(({ metadata }) => metadata.name);

  deepEqual(names, ["e", "a", "b", "c", "d"]);
});

for (const [numbers, next] of [
  [[], 1],
  [[1], 2],
  [[7, 3], 8],
] as const) {
  test(`after the revisions [${numbers.join()}] comes ${next}`, () => {
    equal(nextRevisionNumber(numbers.map((number) => aRevision("r", number))), next);
  });
}
