import assert from "node:assert/strict";
import test from "node:test";
import { configMaps } from "../../api/core/v1/config-map.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import type { ObjectKey, ResourceKind } from "../../client/client.ts";
import type { Reader } from "../../client/informer/informer.ts";
import { Dependents } from "./dependents.ts";
import type { KindTable } from "./kind-table.ts";
import { stub } from "../../base/testing/stub.ts";

const OWNER = "owner-uid";
const kinds = stub<KindTable>({ followed: [configMaps as ResourceKind] });

function held(name: string): KubeObject {
  const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "a", uid: OWNER, blockOwnerDeletion: true }];
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "default", uid: `uid of ${name}`, ownerReferences } };
}

/** Counts full scans of the dependents. */
class CountingReader {
  readonly left: Map<string, KubeObject>;
  searches = 0;

  constructor(objects: readonly KubeObject[]) {
    this.left = new Map(objects.map((object) => [object.metadata.name, object]));
  }

  get(_kind: ResourceKind, { name }: ObjectKey): KubeObject | undefined {
    return this.left.get(name);
  }

  indexed(): readonly KubeObject[] {
    this.searches++;
    return [...this.left.values()];
  }
}

test("checking for remaining dependents after each of 1,000 deletions scans them twice", () => {
  const objects = Array.from({ length: 1_000 }, (_, at) => held(`d-${at}`));
  const reader = new CountingReader(objects);
  const dependents = new Dependents({ read: stub<Reader>(reader), kinds });

  for (const { metadata } of objects) {
    assert.equal(dependents.hasBlocking(OWNER), true);
    reader.left.delete(metadata.name);
  }

  assert.equal(dependents.hasBlocking(OWNER), false);
  assert.equal(reader.searches, 2);
});

test("a dependent that no longer blocks its owner, or was replaced, does not count", () => {
  const reader = new CountingReader([held("a")]);
  const dependents = new Dependents({ read: stub<Reader>(reader), kinds });
  assert.equal(dependents.hasBlocking(OWNER), true);

  const { metadata, ...rest } = held("a");
  reader.left.set("a", { ...rest, metadata: { ...metadata, ownerReferences: [] } });
  assert.equal(dependents.hasBlocking(OWNER), false);

  reader.left.set("a", { ...rest, metadata: { ...metadata, uid: "another" } });
  assert.equal(dependents.hasBlocking(OWNER), true);
});
