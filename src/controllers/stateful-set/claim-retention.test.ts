import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { OwnerReference } from "../../api/machinery/object.ts";
import { hasConflictingController, isStaleClaim, withClaimOwners } from "./claim-retention.ts";
import { userOf } from "./plan.ts";
import { aClaim, aSet, BY_SET, byPod } from "./testing/sets.ts";

const OTHER: OwnerReference = { apiVersion: "example.com/v1", kind: "Disk", name: "d", uid: "uid-d", controller: true };
const PLAIN: OwnerReference = { apiVersion: "v1", kind: "ConfigMap", name: "c", uid: "uid-c" };
const FORMER_SET: OwnerReference = { ...BY_SET, uid: "former" };
const [R, D] = ["Retain", "Delete"] as const;

/** A set of one: web-0 is wanted, web-1 is scaled down. */
const CASES: readonly (readonly [
  title: string,
  policy: readonly [whenDeleted: string, whenScaled: string],
  ordinal: number,
  before: readonly OwnerReference[],
  after: readonly OwnerReference[],
])[] = [
  ["a retained claim has no owner", [R, R], 0, [], []],
  ["a claim that is retained by now loses its owner", [R, R], 0, [BY_SET], []],
  ["with whenDeleted the set owns the claim", [D, R], 0, [], [BY_SET]],
  ["with whenDeleted the set owns the claim of a scaled-down Pod, too", [D, R], 1, [], [BY_SET]],
  ["with whenScaled a wanted Pod does not own the claim", [R, D], 0, [], []],
  ["with whenScaled a scaled-down Pod owns the claim", [R, D], 1, [], [byPod(1)]],
  ["with whenScaled a Pod that is wanted again gives the claim back", [R, D], 0, [byPod(0)], []],
  ["with both the set owns the claim of a wanted Pod", [D, D], 0, [byPod(0)], [BY_SET]],
  ["with both a scaled-down Pod owns the claim instead of the set", [D, D], 1, [BY_SET], [byPod(1)]],
  ["other owners stay", [D, R], 0, [PLAIN], [PLAIN, BY_SET]],
  ["an owner that is not the controller becomes it", [D, R], 0, [{ ...BY_SET, controller: false }], [BY_SET]],
  ["a claim of another controller is left alone", [D, D], 0, [OTHER], [OTHER]],
  ["a claim of another controller loses the set as its owner", [D, D], 0, [OTHER, BY_SET], [OTHER]],
  ["a claim of a former set is left to the garbage collector", [D, D], 0, [FORMER_SET], [FORMER_SET]],
  ["a claim of a former Pod is left to the garbage collector", [D, D], 0, [byPod(0, "former")], [byPod(0, "former")]],
];

for (const [title, [whenDeleted, whenScaled], ordinal, before, after] of CASES) {
  test(title, () => {
    const set = aSet({ claims: true, replicas: 1, retain: { whenDeleted, whenScaled } });
    const user = userOf(`web-${ordinal}`, `uid-web-${ordinal}`);
    const claim = aClaim(ordinal, ...before);

    const next = withClaimOwners(set, user, claim);

    deepEqual(next.metadata.ownerReferences, after);
    equal(withClaimOwners(set, user, next), next);
  });
}

test("a claim of another controller is reported, unless claims are retained", () => {
  const conflicts = [D, R].map((policy) => {
    const set = aSet({ claims: true, retain: { whenDeleted: policy, whenScaled: policy } });
    return hasConflictingController(set, userOf("web-0", "uid-web-0"), aClaim(0, OTHER));
  });

  deepEqual(conflicts, [true, false]);
});

test("only with whenScaled does a new Pod wait for the deletion of a claim of its predecessor", () => {
  const stale = [D, R].map((whenScaled) => {
    const set = aSet({ claims: true, retain: { whenDeleted: R, whenScaled } });
    return isStaleClaim(set, userOf("web-0"), aClaim(0, byPod(0)));
  });

  deepEqual(stale, [true, false]);
});
