import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import type { Event } from "../../generated/core/v1.ts";
import { cellsOf, columnNames, newObject, problems, problemsOfNew, received, servedVersion, type Sent } from "../../testing/kind.ts";
import { events } from "./event.ts";
import { fromCoreEvent, toCoreEvent } from "./event/convert.ts";
import { validateEventsV1, validateLegacyEvent, validateStrictCreate, validateStrictUpdate } from "./event/validate.ts";

const NEW_API = "events.k8s.io/v1";
const SECOND = "2024-01-01T00:00:00.123456Z";
const NAME_PART =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

const NEW_EVENT: Sent = {
  regarding: { kind: "Pod", name: "p" },
  related: { kind: "Node" },
  eventTime: SECOND,
  reportingController: "a.b/c",
  reportingInstance: "i",
  action: "Do",
  reason: "Done",
  note: "It is done",
  type: "Normal",
  series: { count: 3, lastObservedTime: SECOND },
};

test("an events.k8s.io Event is stored as a core Event", () => {
  assert.deepEqual(received(events, NEW_EVENT, NEW_API), {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: "x", namespace: "default" },
    involvedObject: { kind: "Pod", name: "p" },
    reason: "Done",
    message: "It is done",
    source: {},
    firstTimestamp: null,
    lastTimestamp: null,
    type: "Normal",
    eventTime: SECOND,
    series: { count: 3, lastObservedTime: SECOND },
    action: "Do",
    related: { kind: "Node" },
    reportingComponent: "a.b/c",
    reportingInstance: "i",
  });
});

test("a core Event is served by events.k8s.io with the deprecated fields", () => {
  const old = received(events, {
    involvedObject: { kind: "Pod" },
    message: "m",
    source: { component: "c", host: "h" },
    count: 2,
    firstTimestamp: "2024-01-01T00:00:00Z",
    series: {},
  });

  assert.deepEqual(fromCoreEvent(old), {
    apiVersion: NEW_API,
    kind: "Event",
    metadata: { name: "x", namespace: "default" },
    eventTime: null,
    series: { count: 0, lastObservedTime: null },
    regarding: { kind: "Pod" },
    note: "m",
    deprecatedSource: { component: "c", host: "h" },
    deprecatedFirstTimestamp: "2024-01-01T00:00:00Z",
    deprecatedLastTimestamp: null,
    deprecatedCount: 2,
  });
});

test("conversion to events.k8s.io and back loses nothing", () => {
  const text = fc.string({ minLength: 1, maxLength: 5 });
  const reference = fc.record(
    { kind: text, name: text, namespace: text, uid: text, apiVersion: text, fieldPath: text },
    { requiredKeys: [], noNullPrototype: true },
  );
  const sent = fc.record(
    {
      involvedObject: reference,
      related: reference,
      reason: text,
      message: text,
      source: fc.record({ component: text, host: text }, { requiredKeys: [], noNullPrototype: true }),
      firstTimestamp: fc.constant("2024-01-01T00:00:00Z"),
      lastTimestamp: fc.constant("2024-01-01T00:00:01Z"),
      eventTime: fc.constant(SECOND),
      count: fc.integer({ min: 1, max: 9 }),
      type: text,
      action: text,
      series: fc.record(
        { count: fc.integer({ min: 0, max: 9 }), lastObservedTime: fc.constant(SECOND) },
        { requiredKeys: [], noNullPrototype: true },
      ),
      reportingComponent: text,
      reportingInstance: text,
    },
    { requiredKeys: ["involvedObject"], noNullPrototype: true },
  );
  fc.assert(
    fc.property(sent, (fields) => {
      const event = received(events, fields);
      assert.deepEqual(toCoreEvent(fromCoreEvent(event)), event);
    }),
  );
});

const NAMESPACE_MISMATCH = "does not match event.namespace";

const LEGACY: readonly [title: string, sent: Sent, problems: readonly string[]][] = [
  [
    "a time, about an object of no namespace, in one that is not the default",
    {
      metadata: { namespace: "other" },
      involvedObject: {},
      eventTime: SECOND,
      reportingComponent: "c",
      reportingInstance: "i",
      action: "a",
      reason: "r",
    },
    [`involvedObject.namespace: Invalid value: "": ${NAMESPACE_MISMATCH}`],
  ],
  ["hardly anything", { involvedObject: {} }, []],
  [
    "an object of another namespace",
    { involvedObject: { namespace: "other" } },
    [`involvedObject.namespace: Invalid value: "other": ${NAMESPACE_MISMATCH}`],
  ],
  [
    "an object of no namespace, in one that is not the default",
    { metadata: { namespace: "other" }, involvedObject: {} },
    [`involvedObject.namespace: Invalid value: "": ${NAMESPACE_MISMATCH}`],
  ],
  [
    "an object of no namespace, in that of the system",
    {
      metadata: { namespace: "kube-system" },
      involvedObject: {},
      eventTime: SECOND,
      reportingComponent: "c",
      reportingInstance: "i",
      action: "a",
      reason: "r",
    },
    [],
  ],
  ["a name of any sort", { metadata: { name: "A b" }, involvedObject: {} }, []],
  [
    "a name that is invalid as a path segment",
    { metadata: { name: "a/b" }, involvedObject: {} },
    ["metadata.name: Invalid value: \"a/b\": may not contain '/'"],
  ],
  [
    "a time and nothing else",
    { involvedObject: {}, eventTime: SECOND },
    [
      "reportingComponent: Required value",
      'reportingComponent: Invalid value: "": name part must be non-empty',
      `reportingComponent: Invalid value: "": ${NAME_PART}`,
      "reportingInstance: Required value",
      "action: Required value",
      "reason: Required value",
    ],
  ],
  [
    "texts that are too long",
    {
      involvedObject: {},
      eventTime: SECOND,
      reportingComponent: "c",
      reportingInstance: "é".repeat(65),
      action: "x".repeat(129),
      reason: "x".repeat(129),
      message: "x".repeat(1025),
    },
    [
      'reportingInstance: Invalid value: "": can have at most 128 characters',
      'action: Invalid value: "": can have at most 128 characters',
      'reason: Invalid value: "": can have at most 128 characters',
      'message: Invalid value: "": can have at most 1024 characters',
    ],
  ],
];

for (const [title, sent, expected] of LEGACY) {
  test(`a core Event with ${title} is ${expected.length === 0 ? "valid" : "rejected"}`, () => {
    assert.deepEqual(problemsOfNew(events, sent), expected);
  });
}

test("events.k8s.io names the reporting controller by its own field, and validates creates and updates differently", () => {
  const event = newObject(events, { involvedObject: {}, eventTime: SECOND, reportingInstance: "i", action: "a", reason: "r" });
  const fields = (found: readonly string[]) => new Set(found.map((problem) => problem.split(":")[0]));

  assert.deepEqual(fields(problems(validateEventsV1(event))), new Set(["reportingController", "type"]));
  assert.deepEqual(fields(problems(validateEventsV1(event, { ...event, reason: "q" }))), new Set(["reportingController", "reason"]));
});

test("a new events.k8s.io Event has an eventTime and no deprecated field", () => {
  assert.deepEqual(problems(validateStrictCreate(received(events, NEW_EVENT, NEW_API))), []);
  const strict = received(events, NEW_EVENT, NEW_API);
  assert.deepEqual(problems(validateStrictCreate({ ...strict, metadata: { ...strict.metadata, name: "" } })), []);
  const wrong = {
    metadata: { name: "E_1" },
    series: { count: 1 },
    type: "x",
    deprecatedFirstTimestamp: "2024-01-01T00:00:00Z",
    deprecatedLastTimestamp: "2024-01-01T00:00:00Z",
    deprecatedCount: 1,
    deprecatedSource: { host: "h" },
  };
  assert.deepEqual(problems(validateStrictCreate(received(events, wrong, NEW_API))).slice(1), [
    'series.count: Invalid value: "": should be at least 2',
    "series.lastObservedTime: Required value",
    "eventTime: Required value",
    'type: Invalid value: "": has invalid value: x',
    'firstTimestamp: Invalid value: "": needs to be unset',
    'lastTimestamp: Invalid value: "": needs to be unset',
    'count: Invalid value: "": needs to be unset',
    'source: Invalid value: "": needs to be unset',
  ]);
});

test("only events.k8s.io requires qualified finalizers", () => {
  const event = received(events, { ...NEW_EVENT, metadata: { name: "e", finalizers: ["a"] } }, NEW_API);
  const sentence = 'metadata.finalizers[0]: Invalid value: "a": name is neither a standard finalizer name nor is it fully qualified';

  assert.deepEqual(problems(validateStrictCreate(event)), [sentence]);
  assert.deepEqual(problems(validateStrictUpdate(event, event)), [sentence]);
});

test("an update through events.k8s.io may change only the series of an Event", () => {
  const previous = received(events, NEW_EVENT, NEW_API);
  const again = received(events, { ...NEW_EVENT, series: { count: 4, lastObservedTime: SECOND } }, NEW_API);
  const other: Event = {
    ...previous,
    involvedObject: { kind: "Pod" },
    source: { component: "x" },
    reason: "q",
    eventTime: "2024-01-01T00:00:00.123457Z",
  };

  assert.deepEqual(problems(validateStrictUpdate(again, previous)), []);
  assert.deepEqual(problems(validateStrictUpdate(other, previous)), [
    'involvedObject: Invalid value: {"Kind":"Pod","Namespace":"","Name":"","UID":"","APIVersion":"","ResourceVersion":"","FieldPath":""}: field is immutable',
    'reason: Invalid value: "q": field is immutable',
    'source: Invalid value: {"Component":"x","Host":""}: field is immutable',
    'reason: Invalid value: "q": field is immutable',
    'eventTime: Invalid value: "2024-01-01T00:00:00.123457Z": field is immutable',
  ]);
});

test("every field of an Event but its series is immutable in events.k8s.io", () => {
  const previous = received(events, NEW_EVENT, NEW_API);
  const changes: Partial<Event> = {
    series: { count: 1, lastObservedTime: SECOND },
    message: "m",
    firstTimestamp: "2024-01-01T00:00:00Z",
    lastTimestamp: "2024-01-01T00:00:00Z",
    count: 4,
    type: "Warning",
    action: "k",
    related: { kind: "K" },
    reportingComponent: "r",
    reportingInstance: "j",
  };

  assert.deepEqual(
    problems(validateStrictUpdate({ ...previous, ...changes }, previous)).map((problem) => problem.split(":")[0]),
    [
      "series.count",
      "message",
      "firstTimestamp",
      "lastTimestamp",
      "count",
      "type",
      "action",
      "related",
      "reportingController",
      "reportingInstance",
    ],
  );
});

test("an Event with an invalid namespace is rejected", () => {
  const event = newObject(events, { metadata: { namespace: "A" }, involvedObject: { namespace: "A" } });

  assert.match(
    problems(validateLegacyEvent(event, "reportingComponent"))[0] ?? "",
    /^namespace: Invalid value: "A": a lowercase RFC 1123 subdomain/,
  );
});

test("each API version selects by its own field names, and the source of a new Event is the reporting controller", () => {
  const event = received(events, NEW_EVENT, NEW_API);
  const { selectableFields = {} } = servedVersion(events, NEW_API);

  assert.equal(events.selectableFields["involvedObject.kind"]?.(event), "Pod");
  assert.equal(events.selectableFields.source?.(event), "a.b/c");
  assert.equal(events.selectableFields["regarding.kind"], undefined);
  assert.equal(selectableFields["regarding.kind"]?.(event), "Pod");
  assert.equal(selectableFields.reportingController?.(event), "a.b/c");
  assert.deepEqual([selectableFields.source, selectableFields["involvedObject.kind"]], [undefined, undefined]);
});

test("Events expire after an hour, are created by a PUT, and are indexed by the uid of their object", () => {
  assert.deepEqual([events.secondsToLive, events.createOnUpdate, events.indexedFields], [3_600, true, ["involvedObject.uid"]]);
});

test("both versions of Events show the same table", () => {
  const nowMs = Date.UTC(2024, 0, 1, 0, 1, 0);
  const old = received(events, {
    involvedObject: { kind: "Pod", name: "p" },
    source: { component: "c", host: "h" },
    message: " m ",
    firstTimestamp: "2024-01-01T00:00:00Z",
  });

  assert.deepEqual(columnNames(events), [
    "Last Seen",
    "Type",
    "Reason",
    "Object",
    "Subobject*",
    "Source*",
    "Message",
    "First Seen*",
    "Count*",
    "Name*",
  ]);
  assert.deepEqual(Object.values(cellsOf(events, old, nowMs)), ["60s", "", "", "pod/p", "", "c, h", "m", "60s", 1, "x"]);
  const fresh = received(
    events,
    { ...NEW_EVENT, series: { count: 3, lastObservedTime: "2024-01-01T00:00:30.000000Z" }, regarding: { kind: "Pod" } },
    NEW_API,
  );
  assert.deepEqual(Object.values(cellsOf(events, fresh, nowMs)), [
    "30s",
    "Normal",
    "Done",
    "pod",
    "",
    "a.b/c, i",
    "It is done",
    "59s",
    3,
    "x",
  ]);
});
