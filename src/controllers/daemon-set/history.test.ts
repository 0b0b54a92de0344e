import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { ControllerRevision } from "../../api/generated/apps/v1.ts";
import { hashOf, labeled, newRevision, planForgetting, planHistory } from "./history.ts";
import { aDaemonSet, aTemplate } from "./testing/daemons.ts";

function aRevision(name: string, image: string, number: number): ControllerRevision {
  const revision = newRevision(aDaemonSet(), aTemplate(image), number);
  return { ...revision, metadata: { ...revision.metadata, name } };
}

const names = (revisions: readonly ControllerRevision[]) => revisions.map(({ metadata }) => metadata.name).join();

for (const [title, images, plan] of [
  ["the first template has no revision yet", [], { current: undefined, duplicates: "", old: "", number: 1 }],
  ["the current revision is the one with the template's data", ["x", "agent:1"], { current: "r2", duplicates: "", old: "r1", number: 2 }],
  ["a rolled back revision gets a new number", ["agent:1", "x"], { current: "r1", duplicates: "", old: "r2", number: 3 }],
  ["of equal revisions the latest is kept", ["agent:1", "x", "agent:1"], { current: "r3", duplicates: "r1", old: "r2", number: 3 }],
] as const) {
  test(title, () => {
    const revisions = images.map((image, index) => aRevision(`r${index + 1}`, image, index + 1));

    const { current, duplicates, old, number } = planHistory(aTemplate(), revisions);

    deepEqual({ current: current?.metadata.name, duplicates: names(duplicates), old: names(old), number }, plan);
  });
}

test("a new revision is named and labeled by the hash of the template, which a collision changes", () => {
  const revision = newRevision(aDaemonSet({ annotations: { team: "blue" } }), aTemplate(), 1);
  const counts = { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 };
  const other = newRevision(aDaemonSet({ status: { ...counts, collisionCount: 1 } }), aTemplate(), 1);

  equal(revision.metadata.name, `agent-${hashOf(revision)}`);
  deepEqual(revision.metadata.annotations, { team: "blue" });
  deepEqual(revision.metadata.labels, { app: "agent", "controller-revision-hash": hashOf(revision) });
  equal(hashOf(other) === hashOf(revision), false);
});

test("a revision without a hash is labeled with its name", () => {
  const revision = aRevision("r1", "agent:1", 1);
  const { labels: _, ...metadata } = revision.metadata;

  equal(hashOf(labeled({ ...revision, metadata })), "r1");
  equal(labeled(revision), revision);
});

for (const [limit, forgotten] of [
  [0, "r1,r3"],
  [2, "r1"],
  [3, ""],
] as const) {
  test(`with a limit of ${limit} the old revisions "${forgotten}", which no Pod has, are deleted`, () => {
    const old = ["a", "b", "c"].map((image, index) => aRevision(`r${index + 1}`, image, index + 1));
    const liveHashes = new Set(old.slice(1, 2).map(hashOf));

    equal(names(planForgetting(old, { liveHashes, limit })), forgotten);
  });
}
