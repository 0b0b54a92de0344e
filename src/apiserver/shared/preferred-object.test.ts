import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../api/machinery/object.ts";
import { byAge, PreferredObject } from "./preferred-object.ts";

function claimant(name: string, second: number, claims = true): KubeObject {
  const creationTimestamp = `2026-01-01T00:00:0${second}Z`;
  return { apiVersion: "v1", kind: "Thing", metadata: { name, creationTimestamp, labels: { claims: String(claims) } } };
}

test("PreferredObject returns the best claimant until it is deleted, no longer claims, or the objects are reloaded", () => {
  const preferred = new PreferredObject(({ metadata }) => metadata.labels?.["claims"] === "true", byAge);
  const best = () => preferred.get()?.metadata.name;

  assert.equal(best(), undefined);
  for (const object of [claimant("b", 1), claimant("a", 1), claimant("old", 0), claimant("new", 5, false)]) preferred.put(object);
  assert.equal(best(), "a");
  preferred.put(claimant("new", 5));
  assert.equal(best(), "new");
  preferred.put(claimant("new", 5, false));
  preferred.remove(claimant("a", 1));
  assert.equal(best(), "b");
  preferred.reset();
  assert.equal(best(), undefined);
});
