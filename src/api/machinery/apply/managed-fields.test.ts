import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { JsonObject, ManagedFieldsEntry } from "../object.ts";
import { compareObjects } from "./compare.ts";
import { ANY_ELEMENT } from "./ignored-fields.ts";
import { areSameButTimes, ManagedFields, withoutUnowned } from "./managed-fields.ts";
import { blankObject } from "./shape.ts";
import {
  API_VERSION,
  aWidget,
  LATER,
  list,
  ownership,
  specs,
  struct,
  text,
  TIME,
  track,
  update,
  widget,
  type State,
} from "./testing/widget.ts";

test("the creator owns all fields that differ from a blank object, in one entry", () => {
  const managed = track("kubectl", aWidget({ replicas: 1, data: { b: "1", a: "2" } }, { metadata: { labels: { app: "x" }, uid: "u" } }));

  assert.equal(
    managed.text(),
    `[{"manager":"kubectl","operation":"Update","apiVersion":"test/v1","time":"${TIME}","fieldsType":"FieldsV1","fieldsV1":` +
      `{"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:data":{".":{},"f:a":{},"f:b":{}},"f:replicas":{}}}}]`,
  );
});

for (const { what, spec, fields } of [
  {
    what: "a list that every object has is not owned, its items are",
    spec: { parts: [{ name: "b" }, { name: "a" }] },
    fields: '"f:parts":{"k:{\\"name\\":\\"a\\"}":{".":{},"f:name":{}},"k:{\\"name\\":\\"b\\"}":{".":{},"f:name":{}}}',
  },
  {
    what: "keys have defaults and are in the order of their values",
    spec: { ports: [{ port: 443 }, { port: 80, protocol: "UDP" }] },
    fields:
      '"f:ports":{".":{},"k:{\\"port\\":80,\\"protocol\\":\\"UDP\\"}":{".":{},"f:port":{},"f:protocol":{}},"k:{\\"port\\":443,\\"protocol\\":\\"TCP\\"}":{".":{},"f:port":{}}}',
  },
  { what: "items of a set are owned by value", spec: { tags: ["b", "a"] }, fields: '"f:tags":{".":{},"v:\\"a\\"":{},"v:\\"b\\"":{}}' },
  {
    what: "atomic lists, maps and structs are owned as a whole",
    spec: { args: ["a"], selector: { a: "b" }, target: { kind: "x" } },
    fields: '"f:args":{},"f:selector":{},"f:target":{}',
  },
  { what: "a field may open an atomic type", spec: { open: { x: "1" } }, fields: '"f:open":{".":{},"f:x":{}}' },
  {
    what: "unknown JSON is owned member by member, its lists as a whole",
    spec: { free: { k: { z: [1] } } },
    fields: '"f:free":{".":{},"f:k":{".":{},"f:z":{}}}',
  },
  { what: "a raw extension is owned as a whole", spec: { raw: { k: { z: 1 } } }, fields: '"f:raw":{}' },
  {
    what: "what is empty is owned itself",
    spec: { nested: {}, groups: { g: {} }, tags: [] },
    fields: '"f:groups":{".":{},"f:g":{}},"f:nested":{},"f:tags":{}',
  },
  {
    what: "items that share a key are owned as one",
    spec: {
      parts: [
        { name: "a", image: "1" },
        { name: "a", image: "2" },
      ],
    },
    fields: '"f:parts":{"k:{\\"name\\":\\"a\\"}":{}}',
  },
  { what: "a map's key may need escapes", spec: { data: { 'a"<': "1" } }, fields: '"f:data":{".":{},"f:a\\"\\u003c":{}}' },
] satisfies { what: string; spec: JsonObject; fields: string }[]) {
  test(`on create, ${what}`, () => {
    assert.deepEqual(ownership(track("m", aWidget(spec))), { "Update m": `{"f:spec":{${fields}}}` });
  });
}

test("the ownership text of a created object equals that of comparing it with a blank one", () => {
  fc.assert(
    fc.property(specs, fc.dictionary(fc.string(), fc.string(), { maxKeys: 3 }), (spec, labels) => {
      const object = aWidget(spec, { metadata: { labels, finalizers: ["x"] }, status: { phase: "x" } });
      const { added, modified } = compareObjects(widget, blankObject(widget), { ...object, status: {} });
      assert.equal(track("m", object).owners()[0]?.fields.text(), withoutUnowned(added.union(modified)).text());
    }),
  );
});

test("an update takes changed fields from other owners and leaves them the rest", () => {
  const created = { object: aWidget({ data: { a: "1", b: "1" }, replicas: 1 }), managed: ManagedFields.none };
  const first = { ...created, managed: track("one", created.object) };
  const second = update(first, "two", aWidget({ data: { a: "2", c: "1" }, replicas: 1 }));

  assert.deepEqual(ownership(second.managed), {
    "Update one": '{"f:spec":{"f:data":{},"f:replicas":{}}}',
    "Update two": '{"f:spec":{"f:data":{"f:a":{},"f:c":{}}}}',
  });
});

test("the time of an entry changes with a value, not with a removal", () => {
  const object = aWidget({ data: { a: "1", b: "1" } });
  const managed = track("one", object);
  const removed = track("one", aWidget({ data: { a: "1" } }), { previous: object, previousManaged: managed, time: LATER });
  const changed = track("one", aWidget({ data: { a: "2", b: "1" } }), { previous: object, previousManaged: managed, time: LATER });

  assert.equal(removed.entries()[0]?.time, TIME);
  assert.equal(changed.entries()[0]?.time, LATER);
  assert.ok(areSameButTimes(managed, changed));
  assert.ok(!areSameButTimes(managed, removed));
});

test("an update without changes changes no owner", () => {
  fc.assert(
    fc.property(specs, (spec) => {
      const object = aWidget(spec);
      const managed = track("one", object);
      assert.equal(track("two", structuredClone(object), { previous: object, previousManaged: managed }), managed);
    }),
  );
});

test("an update that changes everything owns everything", () => {
  fc.assert(
    fc.property(specs, specs, (before, after) => {
      const first = { object: aWidget(before), managed: track("one", aWidget(before)) };
      const there = update(first, "two", aWidget(after));
      const read = { ...first, managed: ManagedFields.fromText(first.managed.text()) };
      assert.equal(update(read, "two", aWidget(after)).managed.text(), there.managed.text());
      for (const [who, fields] of Object.entries(ownership(there.managed))) assert.notEqual(fields, "{}", who);
    }),
  );
});

test("managedFields that are read and sent back are unchanged", () => {
  fc.assert(
    fc.property(specs, (spec) => {
      const managed = track("one", aWidget(spec, { metadata: { labels: { a: "b" } } }));
      assert.equal(ManagedFields.fromText(managed.text()).owners()[0]?.fields.text(), managed.owners()[0]?.fields.text());
      assert.equal(ManagedFields.fromEntries(managed.entries()).text(), managed.text());
    }),
  );
});

test("a path gains ownership only of the fields that it writes", () => {
  const object = aWidget({ replicas: 1, parts: [{ name: "a", image: "x", limits: { cpu: "1" } }] }, { status: { phase: "Up" } });
  const only = { only: [["spec", "parts", ANY_ELEMENT, "limits"]] };

  assert.deepEqual(ownership(track("m", object, { ignore: [["spec"]] })), { "Update m": '{"f:status":{"f:phase":{}}}' });
  assert.deepEqual(
    ownership(
      track("m", object, {
        ignore: [
          ["metadata", "x"],
          ["spec", "parts"],
        ],
      }),
    ),
    { "Update m": '{"f:spec":{"f:replicas":{}},"f:status":{"f:phase":{}}}' },
  );
  assert.deepEqual(ownership(track("m", object, { ignore: only })), {
    "Update m": '{"f:spec":{"f:parts":{"k:{\\"name\\":\\"a\\"}":{".":{},"f:limits":{".":{},"f:cpu":{}}}}}}',
  });
});

test("what a path does not write changes no ownership, whatever a client sends there", () => {
  fc.assert(
    fc.property(specs, specs, (spec, sent) => {
      const object = aWidget(spec, { status: { phase: "Up" } });
      const options = { previous: object, previousManaged: track("one", object, { ignore: [] }), ignore: [["spec"], ["metadata", "x"]] };
      const next = { ...object, status: { phase: "Down" } };
      assert.equal(track("two", { ...next, spec: sent }, options).text(), track("two", next, options).text());
    }),
  );
});

test("an item without a key drops all ownership, also where the path does not write", () => {
  const object = aWidget({ ports: [{ port: 80 }] }, { status: { phase: "Up" } });
  const options = { previous: object, previousManaged: track("one", object), ignore: [["spec"]] };
  const trackPorts = (...ports: readonly JsonObject[]) => track("two", aWidget({ ports }, { status: { phase: "Down" } }), options);

  assert.equal(trackPorts({ port: 81 }, { protocol: "UDP" }).isEmpty, false);
  assert.equal(track("two", aWidget({ parts: [null] }, { status: {} }), options).isEmpty, true);
  assert.equal(track("two", aWidget({ tags: [{}] }, { status: {} }), options).isEmpty, true);
});

test("entries are sorted with appliers first, then by time and manager; a subresource has an entry of its own", () => {
  const entry = (more: Partial<ManagedFieldsEntry>): ManagedFieldsEntry => ({
    manager: "m",
    operation: "Update",
    apiVersion: API_VERSION,
    fieldsType: "FieldsV1",
    fieldsV1: { "f:a": {} },
    time: TIME,
    ...more,
  });
  const managed = ManagedFields.fromEntries([
    entry({ time: LATER }),
    entry({ manager: "z", operation: "Apply", time: LATER }),
    entry({ manager: "l" }),
    entry({ subresource: "status" }),
    entry({ manager: "k", apiVersion: "test/v2", operation: "Apply" }),
  ]);

  assert.deepEqual(
    managed.owners().map(({ manager, operation, subresource }) => [operation, manager, subresource]),
    [
      ["Apply", "k", ""],
      ["Apply", "z", ""],
      ["Update", "l", ""],
      ["Update", "m", "status"],
      ["Update", "m", ""],
    ],
  );
});

test("beyond ten update entries the oldest are merged", () => {
  const first: JsonObject = aWidget({ replicas: 1 });
  let state: State = { object: first, managed: track("m00", first) };
  const data: Record<string, string> = {};
  for (let index = 1; index <= 12; index++) {
    const manager = `m${String(index).padStart(2, "0")}`;
    data[manager] = "1";
    state = update(state, manager, aWidget({ replicas: 1, data: { ...data } }));
  }

  const names = state.managed.owners().map(({ manager }) => manager);
  assert.deepEqual(names, ["ancient-changes", ...["m04", "m05", "m06", "m07", "m08", "m09", "m10", "m11", "m12"]]);
  assert.equal(
    ownership(state.managed)["Update ancient-changes"],
    '{"f:spec":{"f:data":{".":{},"f:m01":{},"f:m02":{},"f:m03":{}},"f:replicas":{}}}',
  );
});

test("thousands of update entries from a client are merged to ten without losing a field", () => {
  const object = aWidget({ replicas: 1 });
  const sent = Array.from({ length: 5_000 }, (_, index) => ({
    manager: `m${String(index).padStart(4, "0")}`,
    operation: "Update" as const,
    apiVersion: API_VERSION,
    time: "2026-01-01T00:00:00Z",
    fieldsType: "FieldsV1" as const,
    fieldsV1: { [`f:x${String(index).padStart(4, "0")}`]: {} },
  }));

  const managed = track("one", object, { sent });

  const owners = managed.owners();
  const fields = owners.flatMap((owner) => [...owner.fields.paths()].map(([element]) => element));
  assert.equal(owners.length, 10);
  assert.equal(fields.filter((element) => element?.startsWith("f:x")).length, 5_000);
});

test("an empty list, or one empty entry, clears the owners permanently", () => {
  const object = aWidget({ replicas: 1 });
  const previousManaged = track("one", object);
  for (const sent of [[], [{}]]) {
    assert.equal(track("two", aWidget({ replicas: 2 }), { previous: object, previousManaged, sent }), ManagedFields.none);
  }
  assert.equal(track("two", aWidget({ replicas: 2 }), { previous: object }), ManagedFields.none);
});

test("managedFields from a client replace the existing ones, unless they are malformed or sent to a subresource", () => {
  const object = aWidget({ replicas: 1, data: { a: "1" } });
  const options = { previous: object, previousManaged: track("one", object) };
  const entry: ManagedFieldsEntry = {
    manager: "me",
    operation: "Apply",
    apiVersion: API_VERSION,
    fieldsType: "FieldsV1",
    fieldsV1: { "f:spec": { "f:replicas": {} } },
  };

  assert.deepEqual(Object.keys(ownership(track("two", object, { ...options, sent: [entry] }))), ["Apply me"]);
  assert.deepEqual(Object.keys(ownership(track("two", object, { ...options, sent: [{ ...entry, apiVersion: "" }] }))), ["Update one"]);
  const writer = { manager: "two", apiVersion: API_VERSION, time: TIME, subresource: "status" };
  assert.deepEqual(Object.keys(ownership(track("two", object, { ...options, sent: [entry], writer }))), ["Update one"]);
});

for (const { entry, message } of [
  { entry: {}, message: "operation must be `Apply` or `Update`" },
  { entry: { operation: "Apply" }, message: "apiVersion must not be empty" },
  { entry: { operation: "Apply", apiVersion: "v1" }, message: "missing fieldsType in managed fields entry 0" },
  {
    entry: { operation: "Apply", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1: { x: {} } },
    message: "error decoding set: key must be 2 characters long:",
  },
] satisfies { entry: ManagedFieldsEntry; message: string }[]) {
  test(`an entry is rejected: ${message}`, () => {
    assert.throws(() => ManagedFields.fromEntries([entry]), { name: "StatusError", reason: "BadRequest", message });
  });
}

test("owners in another version lose the fields that change there, and those in a removed version are dropped", () => {
  const other = struct({ spec: struct({ count: text, label: text }) });
  const versions = {
    schemaFor: (apiVersion: string) => (apiVersion === "test/v2" ? other : undefined),
    convert: (object: JsonObject) => ({ spec: { count: (object["spec"] as JsonObject)["replicas"], label: "x" } }) as JsonObject,
  };
  const entry = (apiVersion: string, fieldsV1: JsonObject): ManagedFieldsEntry => ({
    manager: apiVersion,
    operation: "Update",
    apiVersion,
    fieldsType: "FieldsV1",
    fieldsV1,
  });
  const previousManaged = ManagedFields.fromEntries([
    entry("test/v2", { "f:spec": { "f:count": {}, "f:label": {} } }),
    entry("test/v3", { "f:spec": { "f:old": {} } }),
  ]);
  const managed = track("me", aWidget({ replicas: 2 }), { previous: aWidget({ replicas: 1 }), previousManaged, versions });

  assert.deepEqual(ownership(managed), { "Update me": '{"f:spec":{"f:replicas":{}}}', "Update test/v2": '{"f:spec":{"f:label":{}}}' });
});

test("fields that became atomic change owners as a whole", () => {
  const entry: ManagedFieldsEntry = {
    manager: "old",
    operation: "Update",
    apiVersion: API_VERSION,
    fieldsType: "FieldsV1",
    fieldsV1: { "f:spec": { "f:selector": { "f:a": {} }, "f:replicas": {} } },
  };
  const options = { previous: aWidget({ selector: { a: "1" }, replicas: 1 }), previousManaged: ManagedFields.fromEntries([entry]) };

  assert.deepEqual(ownership(track("new", aWidget({ selector: { a: "2" }, replicas: 1 }), options)), {
    "Update new": '{"f:spec":{"f:selector":{}}}',
    "Update old": '{"f:spec":{"f:replicas":{}}}',
  });
});

test("a list item without a key clears the owners but does not fail the write", () => {
  assert.equal(track("m", aWidget({ ports: [{ name: "x", protocol: null }, null] })), ManagedFields.none);
});

test("creating a duplicate owns the items with that key, and removing it owns the remaining one", () => {
  const created = { object: aWidget({ tags: ["a", "b"] }), managed: track("one", aWidget({ tags: ["a", "b"] })) };
  const doubled = update(created, "two", aWidget({ tags: ["a", "b", "a"] }));
  const single = update(doubled, "three", aWidget({ tags: ["a", "b"] }));

  assert.equal(ownership(doubled.managed)["Update two"], '{"f:spec":{"f:tags":{"v:\\"a\\"":{}}}}');
  assert.deepEqual(Object.keys(ownership(single.managed)), ["Update one", "Update three"]);
});

test("a list that every item has is removed with the item, and is not owned by the remover", () => {
  const item = struct({ name: text, keys: { schema: list(text, "atomic"), zero: "write" } });
  const schema = struct({ items: list(item, "map", "name") });

  const { added, modified, removed } = compareObjects(schema, { items: [{ name: "a", keys: ["k"] }] }, { items: [] });

  assert.deepEqual([added.isEmpty, modified.isEmpty, removed.isEmpty], [true, true, false]);
});
