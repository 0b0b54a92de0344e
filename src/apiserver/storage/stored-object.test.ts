import assert from "node:assert/strict";
import { test } from "node:test";
import { ManagedFields } from "../../api/machinery/apply/managed-fields.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import type { ServedVersion } from "../../api/machinery/resource.ts";
import { ObjectFormat } from "./object-format.ts";
import { ObjectFamily, SharedObject } from "./stored-object.ts";
import type { Widget } from "../testing/widget.ts";

const family = new ObjectFamily(new ObjectFormat({ apiVersion: "example.com/v1", kind: "Widget" }), { freezes: true });
const spec = { shelf: "1" };
const object = { kind: "Widget", apiVersion: "example.com/v1", metadata: { name: "a" }, spec } as KubeObject;
const CLAIMS = '[{"manager":"m","operation":"Update","apiVersion":"example.com/v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}}}]';

function newObject(): SharedObject {
  return SharedObject.fromObject(family, object, ManagedFields.fromText(CLAIMS));
}

test("a new object has no resourceVersion until it is committed, and then keeps it", () => {
  const stored = newObject();
  const before = [stored.revision, stored.object.metadata.resourceVersion];

  stored.arriveAt(7);
  const arrived = stored.object;
  stored.arriveAt(7);

  assert.deepEqual(before, [0, undefined]);
  assert.deepEqual([stored.revision, arrived.metadata.resourceVersion], [7, "7"]);
  assert.equal(stored.object, arrived);
  assert.equal((arrived as Widget).spec, spec, "unchanged parts keep their identity");
});

test("objects are frozen when read, whatever their source", () => {
  const written = newObject();
  written.arriveAt(7);
  for (const stored of [written, SharedObject.fromBytes(family, written.bytes(), 7), written.at(9)]) {
    assert(Object.isFrozen(stored.object) && Object.isFrozen(stored.object.metadata));
    assert.throws(() => Object.assign((stored.object as Widget).spec ?? {}, { shelf: "2" }), TypeError);
  }
});

test("stored bytes have no resourceVersion, and decode to the object and its managedFields", () => {
  const written = newObject();
  written.arriveAt(7);
  const read = SharedObject.fromBytes(family, written.bytes(), 8);

  assert.doesNotMatch(new TextDecoder().decode(written.bytes()), /resourceVersion/);
  assert.deepEqual(read.object, { ...object, metadata: { name: "a", resourceVersion: "8" } });
  assert.equal(read.managed().text(), CLAIMS);
  assert.equal(written.managed().text(), CLAIMS, "also after encoding");
});

test("the store returns an object of this process as the identical object, and anything else as bytes", () => {
  const written = newObject();
  const value = written.value({ asBytes: false });

  const own = SharedObject.of(family, { key: "/widgets/a", value, revision: 7 });
  const others = SharedObject.of(family, {
    key: "/widgets/a",
    value: { ...value, memo: undefined, bytes: () => written.bytes() },
    revision: 7,
  });

  assert.equal(own, written);
  assert.equal(own.revision, 7);
  assert.notEqual(others, written);
  assert.deepEqual(others.object, written.object);
});

test("a copy at another revision leaves the original unchanged", () => {
  const stored = newObject();
  stored.arriveAt(7);

  const later = stored.at(9);

  assert.deepEqual([stored.object.metadata.resourceVersion, later.object.metadata.resourceVersion], ["7", "9"]);
  assert.deepEqual(later.bytes(), stored.bytes());
  assert.equal(later.managed().text(), CLAIMS);
});

test("another API version is converted once per object and revision", () => {
  let made = 0;
  const v2: ServedVersion = {
    group: "example.com",
    version: "v2",
    schema: "",
    fromStorage: (from) => ({ ...from, apiVersion: `example.com/v2#${++made}` }),
  };
  const stored = newObject();
  stored.arriveAt(7);

  const [first, second] = [stored.in(v2), stored.in(v2)];

  assert.equal(first, second);
  assert.deepEqual([first.apiVersion, first.metadata.resourceVersion], ["example.com/v2#1", "7"]);
  assert.equal(stored.in({ group: "example.com", version: "v1", schema: "" }), stored.object);
});

test("a conversion made before the commit is repeated when the revision is known", () => {
  const v2: ServedVersion = {
    group: "example.com",
    version: "v2",
    schema: "",
    fromStorage: (from) => ({ ...from, apiVersion: "example.com/v2" }),
  };
  const stored = newObject();
  const before = stored.in(v2).metadata.resourceVersion;

  stored.arriveAt(7);

  assert.deepEqual([before, stored.in(v2).metadata.resourceVersion], [undefined, "7"]);
});
