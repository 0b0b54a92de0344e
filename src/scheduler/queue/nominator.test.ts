import assert from "node:assert/strict";
import { test } from "node:test";
import type { PodInfo } from "../framework/pod-info.ts";
import { Nominator } from "./nominator.ts";
import { aPodInfo } from "./testing/queue-harness.ts";

function namesOn(nominator: Nominator, nodeName: string): string[] {
  return nominator.nominatedPods(nodeName).map(({ pod }) => pod.metadata.name ?? "");
}

const plain = aPodInfo("p");
const onA = aPodInfo("p", { nominatedNode: "a" });
const onB = aPodInfo("p", { nominatedNode: "b" });
const decidedForA = (nominator: Nominator) => nominator.nominate(plain, "a");

interface Row {
  readonly title: string;
  readonly given: (nominator: Nominator) => void;
  readonly previous: PodInfo;
  readonly info: PodInfo;
  readonly expected: string | undefined;
}

const updates: readonly Row[] = [
  { title: "stays as decided while it is not written", given: decidedForA, previous: plain, info: aPodInfo("p"), expected: "a" },
  { title: "stays when it is written", given: decidedForA, previous: plain, info: onA, expected: "a" },
  { title: "moves with the status", given: (nominator) => nominator.add(onA), previous: onA, info: onB, expected: "b" },
  {
    title: "ends when it is taken off the status",
    given: (nominator) => nominator.add(onA),
    previous: onA,
    info: plain,
    expected: undefined,
  },
  { title: "begins with the status", given: () => {}, previous: plain, info: onB, expected: "b" },
  { title: "does not come from nothing", given: () => {}, previous: plain, info: aPodInfo("p"), expected: undefined },
];

for (const { title, given, previous, info, expected } of updates) {
  test(`a nomination ${title}`, () => {
    const nominator = new Nominator();
    given(nominator);

    nominator.update(previous, info);

    assert.equal(nominator.nodeOf(info.uid), expected);
    assert.deepEqual(nominator.nominatedPods("a"), expected === "a" ? [info] : []);
    assert.deepEqual(nominator.nominatedPods("b"), expected === "b" ? [info] : []);
  });
}

test("Pods nominated to a node are in nomination order, each on one node", () => {
  const nominator = new Nominator();

  nominator.add(aPodInfo("first", { nominatedNode: "a" }));
  nominator.nominate(aPodInfo("second"), "a");
  nominator.add(aPodInfo("third", { nominatedNode: "a" }));
  nominator.nominate(aPodInfo("first", { nominatedNode: "a" }), "b");

  assert.deepEqual([namesOn(nominator, "a"), namesOn(nominator, "b"), nominator.size], [["second", "third"], ["first"], 3]);
});

test("a deleted Pod, or one whose nomination is cleared, is no longer nominated, whatever its status says", () => {
  const nominator = new Nominator();
  nominator.add(onA);
  nominator.add(aPodInfo("q", { nominatedNode: "a" }));

  nominator.nominate(onA, undefined);
  nominator.delete(aPodInfo("q").uid);

  assert.deepEqual([namesOn(nominator, "a"), nominator.size], [[], 0]);
});

test("a returned list of nominated Pods is immutable", () => {
  const nominator = new Nominator();
  nominator.nominate(plain, "a");
  const before = nominator.nominatedPods("a");

  nominator.nominate(aPodInfo("q"), "a");
  nominator.delete(plain.uid);

  assert.deepEqual(before, [plain]);
});
