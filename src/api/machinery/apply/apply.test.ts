import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { deepEqual } from "../../../base/deep.ts";
import type { JsonObject } from "../object.ts";
import { isReason } from "../status-error.ts";
import { ManagedFields } from "./managed-fields.ts";
import {
  apply,
  aWidget,
  LATER,
  nothing,
  ownership,
  specs,
  struct,
  text,
  TIME,
  API_VERSION,
  track,
  update,
  wanted,
  widget,
  type State,
  integer,
  list,
} from "./testing/widget.ts";

function specOf({ object }: State): unknown {
  return object?.["spec"];
}

/** Each step is an apply by the named manager, or an update by a manager named in capitals. */
type Step = readonly [manager: string, spec: JsonObject];

interface Row {
  readonly what: string;
  readonly steps: readonly Step[];
  readonly spec: JsonObject;
  readonly owners: Readonly<Record<string, string>>;
}

const ROWS: readonly Row[] = [
  {
    what: "an applier owns the fields of its configuration",
    steps: [["m", { replicas: 1, data: { a: "1" }, parts: [{ name: "x", image: "i" }], nested: {}, target: { kind: "k" } }]],
    spec: { replicas: 1, data: { a: "1" }, parts: [{ name: "x", image: "i" }], nested: {}, target: { kind: "k" } },
    owners: {
      "Apply m":
        '{"f:data":{"f:a":{}},"f:nested":{},"f:parts":{"k:{\\"name\\":\\"x\\"}":{".":{},"f:image":{},"f:name":{}}},"f:replicas":{},"f:target":{}}',
    },
  },
  {
    what: "a field that an applier no longer sets is removed",
    steps: [
      ["m", { replicas: 1, data: { a: "1", b: "1" }, tags: ["a", "b"] }],
      ["m", { data: { b: "1" }, tags: ["b"] }],
    ],
    spec: { data: { b: "1" }, tags: ["b"] },
    owners: { "Apply m": '{"f:data":{"f:b":{}},"f:tags":{"v:\\"b\\"":{}}}' },
  },
  {
    what: "a field that another applier also owns is kept",
    steps: [
      ["m", { data: { a: "1", b: "1" } }],
      ["n", { data: { a: "1" } }],
      ["m", {}],
    ],
    spec: { data: { a: "1" } },
    owners: { "Apply m": "{}", "Apply n": '{"f:data":{"f:a":{}}}' },
  },
  {
    what: "a field that an updater took over is kept when the applier no longer sets it",
    steps: [
      ["m", { replicas: 1, data: { a: "1" } }],
      ["U", { replicas: 2, data: { a: "1" } }],
      ["m", { data: { a: "1" } }],
    ],
    spec: { replicas: 2, data: { a: "1" } },
    owners: { "Apply m": '{"f:data":{"f:a":{}}}', "Update U": '{"f:replicas":{}}' },
  },
  {
    what: "a list item without owners is removed with its unowned fields",
    steps: [
      [
        "m",
        {
          parts: [
            { name: "a", image: "1" },
            { name: "b", image: "1" },
          ],
        },
      ],
      ["m", { parts: [{ name: "a", image: "1" }] }],
    ],
    spec: { parts: [{ name: "a", image: "1" }] },
    owners: { "Apply m": '{"f:parts":{"k:{\\"name\\":\\"a\\"}":{".":{},"f:image":{},"f:name":{}}}}' },
  },
  {
    what: "an item with a field of another manager keeps that field and its key",
    steps: [
      ["m", { parts: [{ name: "a", image: "1" }] }],
      ["n", { parts: [{ name: "a", tags: ["t"] }] }],
      ["m", {}],
    ],
    spec: { parts: [{ name: "a", tags: ["t"] }] },
    owners: { "Apply m": "{}", "Apply n": '{"f:parts":{"k:{\\"name\\":\\"a\\"}":{".":{},"f:name":{},"f:tags":{"v:\\"t\\"":{}}}}}' },
  },
  {
    what: "two appliers of different fields own one each",
    steps: [
      ["m", { nested: { a: "1" }, groups: { g: { value: "1" } } }],
      ["n", { nested: { b: { c: "1" } }, free: { k: { z: "1" } } }],
    ],
    spec: { nested: { a: "1", b: { c: "1" } }, groups: { g: { value: "1" } }, free: { k: { z: "1" } } },
    owners: {
      "Apply m": '{"f:groups":{"f:g":{".":{},"f:value":{}}},"f:nested":{"f:a":{}}}',
      "Apply n": '{"f:free":{"f:k":{".":{},"f:z":{}}},"f:nested":{"f:b":{"f:c":{}}}}',
    },
  },
  {
    what: "an emptied map stays if another manager owns the map itself",
    steps: [
      ["U", { data: {} }],
      ["m", { data: { a: "1" } }],
      ["m", {}],
    ],
    spec: { data: {} },
    owners: { "Apply m": "{}", "Update U": '{"f:data":{}}' },
  },
];

for (const { what, steps, spec, owners } of ROWS) {
  test(what, () => {
    const state = steps.reduce<State>((before, [manager, wish]) => {
      return manager === manager.toUpperCase() ? update(before, manager, aWidget(wish)) : apply(before, manager, wanted(wish));
    }, nothing);

    assert.deepEqual(specOf(state), spec);
    const expected = Object.fromEntries(Object.entries(owners).map(([owner, fields]) => [owner, `{"f:spec":${fields}}`]));
    assert.deepEqual(ownership(state.managed), expected);
  });
}

test("applying another value to a field of another manager is a conflict that names the field and the manager", () => {
  const state = { object: aWidget({ replicas: 1 }), managed: track("kubectl", aWidget({ replicas: 1 })) };

  assert.throws(
    () => apply(state, "m", wanted({ replicas: 2 })),
    (error) => {
      assert.ok(isReason(error, "Conflict"));
      assert.equal(error.message, 'Apply failed with 1 conflict: conflict with "kubectl" using test/v1: .spec.replicas');
      const causes = [{ reason: "FieldManagerConflict", message: 'conflict with "kubectl" using test/v1', field: ".spec.replicas" }];
      assert.deepEqual(error.details, { causes });
      return true;
    },
  );
});

test("several conflicts are listed by manager", () => {
  const object = aWidget({ replicas: 1, parts: [{ name: "a", image: "1" }] });
  const state = apply({ object, managed: track("z", object) }, "applier", wanted({ tags: ["t"], args: ["x"], replicas: 1 }));

  assert.throws(() => apply(state, "m", wanted({ replicas: 2, args: ["y"], parts: [{ name: "a", image: "2" }] })), {
    message:
      'Apply failed with 4 conflicts: conflicts with "applier":\n- .spec.args\n- .spec.replicas\n' +
      'conflicts with "z" using test/v1:\n- .spec.replicas\n- .spec.parts[name="a"].image',
  });
});

test("a forced apply takes over conflicting fields", () => {
  const state = apply(nothing, "m", wanted({ replicas: 1, args: ["x"] }));
  const forced = apply(state, "n", wanted({ replicas: 2 }), { force: true });

  assert.deepEqual(specOf(forced), { replicas: 2, args: ["x"] });
  assert.deepEqual(ownership(forced.managed), { "Apply m": '{"f:spec":{"f:args":{}}}', "Apply n": '{"f:spec":{"f:replicas":{}}}' });
});

test("applying the same value shares ownership, and an entry that changed nothing has no time", () => {
  const state = apply(nothing, "m", wanted({ replicas: 1 }));
  const shared = apply(state, "n", wanted({ replicas: 1 }));

  assert.equal(shared.object, state.object);
  assert.deepEqual(ownership(shared.managed), { "Apply m": '{"f:spec":{"f:replicas":{}}}', "Apply n": '{"f:spec":{"f:replicas":{}}}' });
  assert.deepEqual(
    shared.managed.entries().map(({ time }) => time),
    [undefined, TIME],
  );
});

test("repeating an apply changes neither the object nor its managedFields", () => {
  fc.assert(
    fc.property(specs, specs, (live, applied) => {
      const state = { object: aWidget(live), managed: track("other", aWidget(live)) };
      const once = apply(state, "m", wanted(applied), { force: true });
      const twice = apply(once, "m", wanted(structuredClone(applied)), { writer: { manager: "m", apiVersion: API_VERSION, time: LATER } });
      assert.equal(twice.object, once.object);
      assert.equal(twice.managed, once.managed);
    }),
  );
});

test("applies of different fields by two managers commute", () => {
  const leftSpecs = specs.map(({ replicas, data, parts, nested }) => defined({ replicas, data, parts, nested }));
  const rightSpecs = specs.map(({ tags, ports, args, free, groups }) => defined({ tags, ports, args, free, groups }));
  fc.assert(
    fc.property(leftSpecs, rightSpecs, (a, b) => {
      // The labels ensure that both own something: otherwise the second would be the first owner and meet before-first-apply.
      const [left, right] = [wanted(a, { labels: { a: "1" } }), wanted(b, { labels: { b: "1" } })];
      const ab = apply(apply(nothing, "a", left), "b", right);
      const ba = apply(apply(nothing, "b", right), "a", left);
      assert.ok(deepEqual(ab.object, ba.object));
      assert.deepEqual(ownership(ab.managed), ownership(ba.managed));
    }),
  );
});

function defined(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

test("after an apply the manager owns exactly the applied fields, and every owned field exists", () => {
  fc.assert(
    fc.property(specs, specs, specs, (first, second, third) => {
      let state: State = apply(nothing, "a", wanted(first));
      state = apply(state, "b", wanted(second), { force: true });
      state = apply(state, "a", wanted(third), { force: true });
      const again = apply(nothing, "a", wanted(third));
      assert.equal(ownership(state.managed)["Apply a"], ownership(again.managed)["Apply a"]);
      assert.equal(apply(state, "a", wanted(third)).managed.text(), state.managed.text());
    }),
  );
});

test("the first apply to an object without managedFields assigns its fields to before-first-apply", () => {
  const state = apply({ object: aWidget({ replicas: 1, data: { a: "1" } }), managed: ManagedFields.none }, "m", wanted({ replicas: 1 }));

  assert.deepEqual(ownership(state.managed), {
    "Apply m": '{"f:spec":{"f:replicas":{}}}',
    "Update before-first-apply": '{"f:spec":{"f:data":{".":{},"f:a":{}},"f:replicas":{}}}',
  });
});

for (const { what, applied, reason, message } of [
  {
    what: "managedFields",
    applied: wanted({}, { managedFields: [] }),
    reason: "BadRequest",
    message: "metadata.managedFields must be nil",
  },
  {
    what: "another kind",
    applied: { ...wanted(), kind: "Other" },
    reason: "BadRequest",
    message: "invalid object type: test/v1, Kind=Other",
  },
  {
    what: "another version",
    applied: { ...wanted(), apiVersion: "v1" },
    reason: "BadRequest",
    message: "invalid object type: /v1, Kind=Widget",
  },
  {
    what: "an unknown field",
    applied: wanted({ foo: 1 }, { namespace: "n" }),
    reason: "Unknown",
    message: "failed to create typed patch object (n/w; test/v1, Kind=Widget): .spec.foo: field not declared in schema",
  },
  {
    what: "items with one key",
    applied: wanted({ tags: ["a", "a"] }),
    reason: "Unknown",
    message: 'failed to create typed patch object (/w; test/v1, Kind=Widget): .spec.tags: duplicate entries for key [="a"]',
  },
  {
    what: "an item without a key",
    applied: wanted({ parts: [null] }),
    reason: "Unknown",
    message:
      "failed to create typed patch object (/w; test/v1, Kind=Widget): .spec.parts: element 0: associative list with keys may not have a null element",
  },
  {
    what: "values of other kinds",
    applied: wanted({ replicas: "1", data: "x", tags: { a: 1 }, nested: { a: true } }),
    reason: "Unknown",
    message:
      "failed to create typed patch object (/w; test/v1, Kind=Widget): errors:\n  .spec.replicas: expected numeric (int or float), got string\n  .spec.data: expected map, got &{x}\n  .spec.tags: expected list, got &{map[a:1]}\n  .spec.nested.a: expected string, got &value.valueUnstructured{Value:true}",
  },
]) {
  test(`an apply with ${what} is rejected`, () => {
    assert.throws(() => apply(nothing, "m", applied), { reason, message });
  });
}

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

test("a server-side apply by kubectl takes over its client-side applied fields without a conflict and updates the annotation", () => {
  const annotations = { [LAST_APPLIED]: JSON.stringify(wanted({ replicas: 1 })) };
  const object = aWidget({ replicas: 1 }, { metadata: { annotations } });
  const state = { object, managed: track("kubectl-client-side-apply", object) };

  const applied = apply(state, "kubectl", wanted({ replicas: 2 }));

  const metadata = applied.object["metadata"] as JsonObject;
  assert.equal(
    (metadata["annotations"] as JsonObject)[LAST_APPLIED],
    '{"apiVersion":"test/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"replicas":2}}\n',
  );
  assert.throws(() => apply(state, "other", wanted({ replicas: 2 })), { reason: "Conflict" });
  const changed = update(state, "hpa", aWidget({ replicas: 5 }, { metadata: { annotations } }));
  assert.throws(() => apply(changed, "kubectl", wanted({ replicas: 2 })), { reason: "Conflict" });
});

test("an apply in another API version gives up the fields of the old version", () => {
  const otherSpec = struct({ count: integer, tags: list(text, "set") });
  const other = struct({ apiVersion: text, kind: text, metadata: struct({ name: text }), spec: { schema: otherSpec, zero: "write" } });
  const versions = {
    schemaFor: (apiVersion: string) => (apiVersion === API_VERSION ? widget : apiVersion === "test/v2" ? other : undefined),
    convert: (object: JsonObject, to: string): JsonObject => {
      const { replicas, count, ...rest } = object["spec"] as JsonObject;
      const number = replicas ?? count;
      return {
        ...object,
        apiVersion: to,
        spec: number === undefined ? rest : { ...rest, [to === "test/v2" ? "count" : "replicas"]: number },
      };
    },
  };
  const first = apply(nothing, "m", wanted({ replicas: 1, tags: ["a"] }));
  const live = versions.convert({ ...first.object, status: undefined }, "test/v2");
  const writer = { manager: "m", apiVersion: "test/v2", time: TIME };
  const applied = { ...wanted({ tags: ["a"] }), apiVersion: "test/v2" };

  const second = apply({ object: live, managed: first.managed }, "m", applied, { schema: other, versions, writer });

  assert.deepEqual(second.object["spec"], { tags: ["a"] });
  assert.deepEqual(
    second.managed.entries().map(({ apiVersion, operation }) => [apiVersion, operation]),
    [["test/v2", "Apply"]],
  );
});

test("unowned fields stay when an applier gives up their siblings", () => {
  const entry = {
    manager: "m",
    operation: "Apply",
    apiVersion: API_VERSION,
    fieldsType: "FieldsV1",
    fieldsV1: { "f:spec": { "f:data": { "f:a": {} } } },
  } as const;
  const state = { object: aWidget({ replicas: 1, data: { a: "1" } }), managed: ManagedFields.fromEntries([entry]) };

  assert.deepEqual(specOf(apply(state, "m", wanted({ args: ["x"] }))), { replicas: 1, args: ["x"] });
});
