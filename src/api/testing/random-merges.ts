/**
 * Random Pods and strategic merge patches for them. Names come from a small set, so that patches hit existing items; patches are well
 * formed, and none has two directives for one item, for which upstream has no deterministic result (it iterates over Go maps).
 */
import fc from "fast-check";
import type { Json, JsonObject } from "../machinery/object.ts";

const names = ["a", "b", "c", "d", "e"] as const;

/** Generator of the items of one list, besides their key. */
interface ListKind {
  readonly field: string;
  readonly key: string;
  /** Members of an existing item. */
  readonly item: fc.Arbitrary<JsonObject>;
  /** Members of an item in a patch. */
  readonly patch: fc.Arbitrary<JsonObject>;
}

function some(members: Record<string, fc.Arbitrary<Json>>): fc.Arbitrary<JsonObject> {
  return fc.record(members, { requiredKeys: [], noNullPrototype: true });
}

const text = fc.constantFrom("1", "2", "3");
const textOrNull = fc.constantFrom("1", "2", null);

const env: ListKind = {
  field: "env",
  key: "name",
  item: some({ value: text }),
  patch: some({ value: textOrNull, valueFrom: fc.constant(null) }),
};

const ports: ListKind = {
  field: "ports",
  key: "containerPort",
  item: some({ protocol: text, name: text }),
  patch: some({ protocol: textOrNull, name: text }),
};

const source: Record<string, fc.Arbitrary<Json>> = {
  emptyDir: fc.constant({ medium: "Memory" }),
  hostPath: text.map((path) => ({ path })),
};

const volumes: ListKind = {
  field: "volumes",
  key: "name",
  item: some(source),
  patch: fc.tuple(some(source), fc.boolean()).map(([members, isRetaining]) => {
    return isRetaining ? { ...members, $retainKeys: ["name", ...Object.keys(members)] } : members;
  }),
};

const conditions: ListKind = {
  field: "conditions",
  key: "type",
  item: some({ status: text }),
  patch: some({ status: textOrNull, reason: text }),
};

const containers: ListKind = {
  field: "containers",
  key: "name",
  item: fc.tuple(some({ image: text, args: fc.array(text) }), listOf(env), listOf(ports)).map(merged),
  patch: fc.tuple(some({ image: textOrNull, args: fc.array(text) }), patchOf(env), patchOf(ports)).map(merged),
};

function merged(parts: readonly JsonObject[]): JsonObject {
  return Object.assign({}, ...parts) as JsonObject;
}

function keysOf({ key }: ListKind): readonly Json[] {
  return key === "containerPort" ? [1, 2, 3, 4, 5] : names;
}

/** The list as it is in an object, or none. */
function listOf(kind: ListKind): fc.Arbitrary<JsonObject> {
  const list = fc
    .shuffledSubarray([...keysOf(kind)])
    .chain((keys) => fc.tuple(...keys.map((key) => kind.item.map((item) => ({ [kind.key]: key, ...item })))));
  return fc.option(list, { nil: undefined, freq: 5 }).map((items) => (items === undefined ? {} : { [kind.field]: items }));
}

/** A patch of the list: changed, added and deleted items, with or without an element order, possibly replacing all others. */
function patchOf(kind: ListKind): fc.Arbitrary<JsonObject> {
  const order = fc.shuffledSubarray([...keysOf(kind)], { minLength: 1 });
  return fc
    .record({
      order,
      isOrdered: fc.boolean(),
      isReplaced: fc.nat(5).map((number) => number === 0),
      isAbsent: fc.nat(4).map((number) => number === 0),
    })
    .chain(({ order: wanted, isOrdered, isReplaced, isAbsent }) => {
      const directive = isOrdered ? { [`$setElementOrder/${kind.field}`]: wanted.map((key) => ({ [kind.key]: key })) } : {};
      return patchItems(kind, wanted).map((items) => {
        const list = isReplaced ? [{ $patch: "replace" }, ...items] : items;
        return isAbsent || (isOrdered && list.length === 0) ? {} : { ...directive, [kind.field]: list };
      });
    });
}

/** In the desired order, without deleted items. */
function patchItems(kind: ListKind, wanted: readonly Json[]): fc.Arbitrary<JsonObject[]> {
  const unwanted = keysOf(kind).filter((key) => !wanted.includes(key));
  const changes = fc
    .subarray([...wanted])
    .chain((keys) => fc.tuple(...keys.map((key) => kind.patch.map((item) => ({ [kind.key]: key, ...item })))));
  const deletions = fc.subarray(unwanted).map((keys) => keys.map((key) => ({ [kind.key]: key, $patch: "delete" })));
  return fc
    .tuple(deletions, changes, fc.boolean())
    .map(([gone, changed, isGoneFirst]) => (isGoneFirst ? [...gone, ...changed] : [...changed, ...gone]));
}

const finalizers = fc.shuffledSubarray([...names]);

/** Deleted and added items are disjoint. */
const finalizersPatch: fc.Arbitrary<JsonObject> = fc
  .record({ order: fc.shuffledSubarray([...names], { minLength: 1 }), isOrdered: fc.boolean(), isDeleting: fc.boolean() })
  .chain(({ order, isOrdered, isDeleting }) =>
    fc.subarray(order, { minLength: 1 }).map((added) => ({
      finalizers: added,
      ...(isOrdered && { "$setElementOrder/finalizers": order }),
      ...(isDeleting && { "$deleteFromPrimitiveList/finalizers": names.filter((name) => !order.includes(name)) }),
    })),
  );

const labels = some({ a: text, b: text, c: text });
const labelsPatch = fc.oneof(
  some({ a: textOrNull, b: textOrNull, d: text }),
  fc.constant({ $patch: "replace", e: "1" }),
  fc.constant(null),
);

const podBody = fc
  .record({ finalizers, labels, inSpec: fc.tuple(listOf(containers), listOf(volumes)).map(merged), status: listOf(conditions) })
  .map(({ inSpec, status, ...metadata }) => ({ metadata, spec: inSpec, status }));

const patch: fc.Arbitrary<JsonObject> = fc
  .record({
    finalizers: fc.option(finalizersPatch, { nil: {} }),
    labels: labelsPatch,
    spec: fc.tuple(patchOf(containers), patchOf(volumes)).map(merged),
    status: patchOf(conditions),
  })
  .map(({ finalizers: finalizerMembers, labels: labelMembers, spec, status }) => ({
    metadata: { ...finalizerMembers, labels: labelMembers },
    spec,
    status,
  }));

/** Several Pods, since one start of kubectl handles many. */
export const podAndPatch: fc.Arbitrary<{ readonly documents: JsonObject[]; readonly patch: JsonObject }> = fc.record({
  patch,
  documents: fc.array(podBody, { minLength: 8, maxLength: 8 }).map((bodies) =>
    bodies.map(({ metadata, ...body }, index) => ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: `pod-${index}`, ...metadata },
      ...body,
    })),
  ),
});
