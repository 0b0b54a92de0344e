import assert from "node:assert/strict";
import test from "node:test";
import type { Json } from "../../machinery/object.ts";
import { cellsOf, changedObject, newObject, problemsOfChange, problemsOfNew, received } from "../../testing/kind.ts";
import { priorityLevelConfigurations } from "./priority-level-configuration.ts";

const REJECT = { type: "Limited", limited: { limitResponse: { type: "Reject" } } };

const DEFAULTS: readonly [title: string, given: Json, defaulted: Json][] = [
  ["no type", {}, { type: "" }],
  ["limits", REJECT, { type: "Limited", limited: { nominalConcurrencyShares: 30, limitResponse: { type: "Reject" }, lendablePercent: 0 } }],
  [
    "queues, of which one is zero",
    { type: "Limited", limited: { nominalConcurrencyShares: 0, limitResponse: { type: "Queue", queuing: { queues: 0 } } } },
    {
      type: "Limited",
      limited: {
        nominalConcurrencyShares: 0,
        limitResponse: { type: "Queue", queuing: { queues: 64, handSize: 8, queueLengthLimit: 50 } },
        lendablePercent: 0,
      },
    },
  ],
  ["an exemption", { type: "Exempt", exempt: {} }, { type: "Exempt", exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } }],
];

for (const [title, given, defaulted] of DEFAULTS) {
  test(`a PriorityLevelConfiguration with ${title} gets its defaults`, () => {
    const level = newObject(priorityLevelConfigurations, { spec: given });

    assert.deepEqual(level.spec, defaulted);
    assert.equal(priorityLevelConfigurations.served[0]?.defaults?.(level), level);
  });
}

const ROWS: readonly [title: string, spec: Json, problems: readonly string[]][] = [
  ["no type", {}, ['spec.type: Unsupported value: "": supported values: "Exempt", "Limited"']],
  ["an unknown type", { type: "Free" }, ['spec.type: Unsupported value: "Free": supported values: "Exempt", "Limited"']],
  [
    "no limits because of its name",
    { type: "Exempt" },
    ["spec.type: Invalid value: \"Exempt\": must be 'Exempt' if and only if `name` is 'exempt'"],
  ],
  [
    "the members of the other type",
    { type: "Exempt", limited: { limitResponse: { type: "Reject" } }, exempt: { nominalConcurrencyShares: -1, lendablePercent: 101 } },
    [
      "spec.type: Invalid value: \"Exempt\": must be 'Exempt' if and only if `name` is 'exempt'",
      "spec.limited: Forbidden: must be nil if the type is not Limited",
      "spec.exempt.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer",
      "spec.exempt.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive",
    ],
  ],
  ["limits that it does not say", { type: "Limited" }, ["spec.limited: Required value: must not be empty when type is Limited"]],
  [
    "limits, and none",
    { type: "Limited", exempt: {}, limited: { limitResponse: { type: "Reject" } } },
    ["spec.exempt: Forbidden: must be nil if the type is Limited"],
  ],
  [
    "no response",
    { type: "Limited", limited: {} },
    ['spec.limited.limitResponse.type: Unsupported value: "": supported values: "Queue", "Reject"'],
  ],
  [
    "an unknown limit response",
    { type: "Limited", limited: { limitResponse: { type: "Wait" } } },
    ['spec.limited.limitResponse.type: Unsupported value: "Wait": supported values: "Queue", "Reject"'],
  ],
  [
    "queues that it does not say",
    { type: "Limited", limited: { limitResponse: { type: "Queue" } } },
    ["spec.limited.limitResponse.queuing: Required value: must not be empty if limited.limitResponse.type is Limited"],
  ],
  [
    "queues for what is refused",
    { type: "Limited", limited: { limitResponse: { type: "Reject", queuing: {} } } },
    ["spec.limited.limitResponse.queuing: Forbidden: must be nil if limited.limitResponse.type is not Limited"],
  ],
  [
    "shares and percentages at their limits",
    {
      type: "Limited",
      limited: { nominalConcurrencyShares: 0, lendablePercent: 100, borrowingLimitPercent: 0, limitResponse: { type: "Reject" } },
    },
    [],
  ],
  [
    "shares and percentages beyond their limits",
    {
      type: "Limited",
      limited: { nominalConcurrencyShares: -1, lendablePercent: -1, borrowingLimitPercent: -1, limitResponse: { type: "Reject" } },
    },
    [
      "spec.limited.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer",
      "spec.limited.lendablePercent: Invalid value: -1: must be between 0 and 100, inclusive",
      "spec.limited.borrowingLimitPercent: Invalid value: -1: if specified, must be a non-negative integer",
    ],
  ],
  ["queues as they are", { type: "Limited", limited: { limitResponse: { type: "Queue", queuing: {} } } }, []],
  [
    "queues of negative sizes",
    { type: "Limited", limited: { limitResponse: { type: "Queue", queuing: { queues: -1, handSize: -1, queueLengthLimit: -1 } } } },
    [
      "spec.limited.limitResponse.queuing.queueLengthLimit: Invalid value: -1: must be positive",
      "spec.limited.limitResponse.queuing.queues: Invalid value: -1: must be positive",
      "spec.limited.limitResponse.queuing.handSize: Invalid value: -1: must be positive",
    ],
  ],
  [
    "queues of one, and one of them",
    { type: "Limited", limited: { limitResponse: { type: "Queue", queuing: { queues: 1, handSize: 1, queueLengthLimit: 1 } } } },
    [],
  ],
  [
    "as many queues as there may be",
    { type: "Limited", limited: { limitResponse: { type: "Queue", queuing: { queues: 10000000, handSize: 1 } } } },
    [],
  ],
  [
    "too many queues",
    { type: "Limited", limited: { limitResponse: { type: "Queue", queuing: { queues: 10000001, handSize: 1 } } } },
    ["spec.limited.limitResponse.queuing.queues: Invalid value: 10000001: must not be greater than 10000000"],
  ],
  [
    "a hand larger than the deck",
    { type: "Limited", limited: { limitResponse: { type: "Queue", queuing: { queues: 4, handSize: 5 } } } },
    ["spec.limited.limitResponse.queuing.handSize: Invalid value: 5: should not be greater than queues (4)"],
  ],
  [
    "as large a hand as a hash can deal",
    { type: "Limited", limited: { limitResponse: { type: "Queue", queuing: { queues: 1024, handSize: 6 } } } },
    [],
  ],
  [
    "a hand larger than a hash can deal",
    { type: "Limited", limited: { limitResponse: { type: "Queue", queuing: { queues: 1024, handSize: 7 } } } },
    [
      "spec.limited.limitResponse.queuing.handSize: Invalid value: 7: required entropy bits of deckSize 1024 and handSize 7 should not be greater than 60",
    ],
  ],
];

for (const [title, spec, problems] of ROWS) {
  test(`a PriorityLevelConfiguration with ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () => {
    assert.deepEqual(problemsOfNew(priorityLevelConfigurations, { spec }), problems);
  });
}

test("the annotation of a removed version is rejected", () => {
  const annotations = { "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares": "" };

  assert.deepEqual(problemsOfNew(priorityLevelConfigurations, { metadata: { annotations }, spec: REJECT }), [
    "metadata.annotations: Forbidden: annotation 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares' is forbidden",
  ]);
});

const MANDATORY: readonly [name: string, spec: Json, problems: readonly string[]][] = [
  ["exempt", { type: "Exempt", exempt: { lendablePercent: 50 } }, []],
  ["exempt", { type: "Exempt" }, []],
  [
    "exempt",
    { type: "Exempt", limited: { limitResponse: { type: "Reject" } } },
    [
      "spec.limited: Forbidden: must be nil if the type is not Limited",
      'spec: Invalid value: {"Type":"Exempt","Limited":{"NominalConcurrencyShares":30,"LimitResponse":{"Type":"Reject","Queuing":null},"LendablePercent":0,"BorrowingLimitPercent":null},"Exempt":null}: spec of \'exempt\' except the \'spec.exempt\' field must equal the fixed value',
    ],
  ],
  [
    "catch-all",
    { type: "Exempt", exempt: { nominalConcurrencyShares: 3, lendablePercent: 4 } },
    [
      "spec.type: Invalid value: \"Exempt\": must be 'Exempt' if and only if `name` is 'exempt'",
      'spec: Invalid value: {"Type":"Exempt","Limited":null,"Exempt":{"NominalConcurrencyShares":3,"LendablePercent":4}}: spec of \'catch-all\' must equal the fixed value',
    ],
  ],
  ["catch-all", { type: "Limited", limited: { nominalConcurrencyShares: 5, limitResponse: { type: "Reject" } } }, []],
  [
    "catch-all",
    { type: "Limited", limited: { limitResponse: { type: "Queue", queuing: { handSize: 1 } }, borrowingLimitPercent: 3 } },
    [
      'spec: Invalid value: {"Type":"Limited","Limited":{"NominalConcurrencyShares":30,"LimitResponse":{"Type":"Queue","Queuing":{"Queues":64,"HandSize":1,"QueueLengthLimit":50}},"LendablePercent":0,"BorrowingLimitPercent":3},"Exempt":null}: spec of \'catch-all\' must equal the fixed value',
    ],
  ],
];

for (const [name, spec, problems] of MANDATORY) {
  test(`the mandatory "${name}" ${problems.length === 0 ? "may" : "may not"} be ${JSON.stringify(spec)}`, () => {
    assert.deepEqual(problemsOfNew(priorityLevelConfigurations, { metadata: { name }, spec }), problems);
  });
}

test("a status write of a PriorityLevelConfiguration changes neither spec nor metadata, and an update keeps the status", () => {
  const previous = newObject(priorityLevelConfigurations, { spec: REJECT, status: { conditions: [{ type: "A" }] } });
  const sent = { metadata: { labels: { a: "b" } }, spec: { type: "Exempt" }, status: { conditions: [{ type: "B" }] } };

  assert.deepEqual(previous.status, {});
  const changed = changedObject(priorityLevelConfigurations, previous, sent);
  assert.deepEqual([changed.spec, changed.status], [{ type: "Exempt" }, {}]);
  const reported = changedObject(priorityLevelConfigurations, previous, sent, "status");
  assert.deepEqual([reported.metadata, reported.spec], [previous.metadata, previous.spec]);
  assert.equal(reported.status?.conditions?.[0]?.type, "B");
});

test("a change of the spec of a PriorityLevelConfiguration increments the generation, one of the labels does not", () => {
  const previous = newObject(priorityLevelConfigurations, { spec: REJECT });
  const isGrowing = (sent: { readonly spec: Json; readonly metadata?: { readonly labels: Json } }): boolean | undefined =>
    priorityLevelConfigurations.changesGeneration?.(received(priorityLevelConfigurations, sent), previous);

  assert.equal(isGrowing({ spec: { type: "Exempt" } }), true);
  assert.equal(isGrowing({ spec: REJECT, metadata: { labels: { a: "b" } } }), false);
});

test("conditions of a PriorityLevelConfiguration status have unique types", () => {
  const status = { conditions: [{ type: "A" }, { type: "A" }, {}] };
  const previous = newObject(priorityLevelConfigurations, { spec: REJECT });

  assert.deepEqual(problemsOfChange(priorityLevelConfigurations, previous, { status }, "status"), [
    'status.conditions[1].type: Duplicate value: "A"',
    "status.conditions[2].type: Required value",
  ]);
});

test("the table of PriorityLevelConfigurations shows the queue sizes where there are any", () => {
  const queuing = { queues: 16, handSize: 4, queueLengthLimit: 5 };
  const queue = { type: "Limited", limited: { nominalConcurrencyShares: 7, limitResponse: { type: "Queue", queuing } } };
  const cells = (spec: Json): object => cellsOf(priorityLevelConfigurations, newObject(priorityLevelConfigurations, { spec }));

  const none = { Queues: "<none>", HandSize: "<none>", QueueLengthLimit: "<none>", Age: "<unknown>" };
  assert.deepEqual(cells({ type: "Exempt" }), { Name: "x", Type: "Exempt", NominalConcurrencyShares: "<none>", ...none });
  assert.deepEqual(cells(REJECT), { Name: "x", Type: "Limited", NominalConcurrencyShares: 30, ...none });
  assert.deepEqual(cells(queue), {
    Name: "x",
    Type: "Limited",
    NominalConcurrencyShares: 7,
    Queues: 16,
    HandSize: 4,
    QueueLengthLimit: 5,
    Age: "<unknown>",
  });
});
