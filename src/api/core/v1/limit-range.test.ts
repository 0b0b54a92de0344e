import assert from "node:assert/strict";
import test from "node:test";
import { validateQualifiedName } from "../../machinery/names.ts";
import type { Json } from "../../machinery/object.ts";
import { columnNames, newObject, problemsOfNew } from "../../testing/kind.ts";
import { limitRanges } from "./limit-range.ts";

const [LABEL_KEY = ""] = validateQualifiedName("a/b/c");
const [NAME_PART = ""] = validateQualifiedName("-");

const DEFAULTS: readonly [title: string, given: Json, defaulted: Json][] = [
  [
    "the maximum is the default limit, and that the default request",
    { max: { cpu: "1" } },
    { max: { cpu: "1" }, default: { cpu: "1" }, defaultRequest: { cpu: "1" } },
  ],
  [
    "the minimum is the default request where there is no limit",
    { min: { cpu: "1" } },
    { min: { cpu: "1" }, defaultRequest: { cpu: "1" } },
  ],
  [
    "what is said stays",
    { max: { cpu: "3", memory: "1Gi" }, min: { cpu: "1" }, default: { cpu: "2" }, defaultRequest: { cpu: "1500m" } },
    {
      max: { cpu: "3", memory: "1Gi" },
      min: { cpu: "1" },
      default: { cpu: "2", memory: "1Gi" },
      defaultRequest: { cpu: "1500m", memory: "1Gi" },
    },
  ],
  [
    "amounts are rounded up to thousandths",
    { min: { cpu: "0.0001" }, maxLimitRequestRatio: { cpu: "1.0001" } },
    { min: { cpu: "1m" }, defaultRequest: { cpu: "1m" }, maxLimitRequestRatio: { cpu: "1001m" } },
  ],
];

for (const [title, given, defaulted] of DEFAULTS) {
  test(`container limits default: ${title}`, () => {
    const limitRange = newObject(limitRanges, { spec: { limits: [{ type: "Container", ...(given as object) }] } });

    assert.deepEqual(limitRange.spec?.limits, [{ type: "Container", ...(defaulted as object) }]);
    assert.equal(limitRanges.served[0]?.defaults?.(limitRange), limitRange);
  });
}

test("limits of other types than Container get no defaults", () => {
  assert.deepEqual(newObject(limitRanges, { spec: { limits: [{ type: "Pod", max: { cpu: "1" } }] } }).spec?.limits, [
    { type: "Pod", max: { cpu: "1" } },
  ]);
});

const ROWS: readonly [title: string, limits: Json, problems: readonly string[]][] = [
  ["no limits", [], []],
  [
    "limits of all kinds",
    [
      { type: "Container", max: { cpu: "1", "a.b/c": "2", "hugepages-2Mi": "2Mi" } },
      { type: "Pod", min: { memory: "1Mi" } },
      { type: "PersistentVolumeClaim", min: { storage: "1Gi" } },
      { type: "a.b/c", max: { "requests.cpu": "1" } },
    ],
    [],
  ],
  [
    "no type",
    [{}],
    ['spec.limits[0].type: Invalid value: "": name part must be non-empty', `spec.limits[0].type: Invalid value: "": ${NAME_PART}`],
  ],
  ["an unknown type", [{ type: "Node" }], ['spec.limits[0].type: Invalid value: "Node": must be a standard limit type or fully qualified']],
  ["a type with two slashes", [{ type: "a/b/c" }], [`spec.limits[0].type: Invalid value: "a/b/c": ${LABEL_KEY}`]],
  ["the same type twice", [{ type: "Pod" }, { type: "Pod" }], ['spec.limits[1].type: Duplicate value: "Pod"']],
  [
    "unknown resources",
    [
      {
        type: "a.b/c",
        max: { a: "1" },
        min: { b: "1" },
        default: { c: "1" },
        defaultRequest: { d: "1" },
        maxLimitRequestRatio: { e: "1" },
      },
    ],
    [
      'spec.limits[0].max[a]: Invalid value: "a": must be a standard resource type or fully qualified',
      'spec.limits[0].min[b]: Invalid value: "b": must be a standard resource type or fully qualified',
      'spec.limits[0].default[c]: Invalid value: "c": must be a standard resource type or fully qualified',
      'spec.limits[0].defaultRequest[d]: Invalid value: "d": must be a standard resource type or fully qualified',
      'spec.limits[0].maxLimitRequestRatio[e]: Invalid value: "e": must be a standard resource type or fully qualified',
    ],
  ],
  [
    "a resource of a claim for a Pod",
    [{ type: "Pod", max: { storage: "1" } }],
    ['spec.limits[0].max[storage]: Invalid value: "storage": must be a standard resource for containers'],
  ],
  [
    "a resource of quotas for a container",
    [{ type: "Container", maxLimitRequestRatio: { "requests.a.b/c": "1" } }],
    [
      'spec.limits[0].maxLimitRequestRatio[requests.a.b/c]: Invalid value: "requests.a.b/c": doesn\'t follow extended resource name standard',
    ],
  ],
  [
    "resources that a claim cannot have",
    [{ type: "PersistentVolumeClaim", max: { storage: "1", "a/b/c": "1", disk: "1" } }],
    [
      `spec.limits[0].max[a/b/c]: Invalid value: "a/b/c": ${LABEL_KEY}`,
      'spec.limits[0].max[disk]: Invalid value: "disk": must be a standard resource type or fully qualified',
    ],
  ],
  [
    "defaults for Pods",
    [{ type: "Pod", default: { cpu: "1" }, defaultRequest: { cpu: "1" } }],
    [
      "spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'",
      "spec.limits[0].defaultRequest: Forbidden: may not be specified when `type` is 'Pod'",
    ],
  ],
  [
    "no storage for claims",
    [{ type: "PersistentVolumeClaim", max: { "a.b/c": "1" } }],
    ["spec.limits[0].limits: Required value: either minimum or maximum storage value is required, but neither was provided"],
  ],
  [
    "more as a minimum than as a maximum",
    [{ type: "Pod", min: { cpu: "2" }, max: { cpu: "1000m" } }],
    ['spec.limits[0].min[cpu]: Invalid value: "2": min value 2 is greater than max value 1'],
  ],
  [
    "a default request below the minimum",
    [{ type: "Container", min: { cpu: "100m" }, defaultRequest: { cpu: "10m" } }],
    ['spec.limits[0].defaultRequest[cpu]: Invalid value: "10m": min value 100m is greater than default request value 10m'],
  ],
  [
    "a default request above the maximum",
    [{ type: "PersistentVolumeClaim", max: { storage: "1Gi" }, defaultRequest: { storage: "2Gi" } }],
    ['spec.limits[0].defaultRequest[storage]: Invalid value: "2Gi": default request value 2Gi is greater than max value 1Gi'],
  ],
  [
    "a default request above the default limit",
    [{ type: "Container", default: { cpu: "1" }, defaultRequest: { cpu: "2" } }],
    ['spec.limits[0].defaultRequest[cpu]: Invalid value: "2": default request value 2 is greater than default limit value 1'],
  ],
  [
    "a default limit below the minimum",
    [{ type: "PersistentVolumeClaim", min: { storage: "2" }, default: { storage: "1" } }],
    ['spec.limits[0].default[storage]: Invalid value: "2": min value 2 is greater than default value 1'],
  ],
  [
    "a default limit above the maximum",
    [{ type: "Container", max: { cpu: "1" }, default: { cpu: "2" }, defaultRequest: { cpu: "1" } }],
    ['spec.limits[0].default[cpu]: Invalid value: "1": default value 2 is greater than max value 1'],
  ],
  [
    "a ratio below one",
    [{ type: "Pod", maxLimitRequestRatio: { cpu: "500m" } }],
    ['spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "500m": ratio 500m is less than 1'],
  ],
  [
    "a ratio above what the limits leave",
    [{ type: "Pod", min: { cpu: "300m" }, max: { cpu: "1" }, maxLimitRequestRatio: { cpu: "4" } }],
    ['spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "4": ratio 4 is greater than max/min = 3.333333'],
  ],
  ["any ratio to nothing", [{ type: "Pod", min: { cpu: "0" }, max: { cpu: "1" }, maxLimitRequestRatio: { cpu: "4" } }], []],
  [
    "a ratio of amounts that are too large for thousandths",
    [{ type: "Pod", min: { memory: "3" }, max: { memory: "9E" }, maxLimitRequestRatio: { memory: "4E" } }],
    ['spec.limits[0].maxLimitRequestRatio[memory]: Invalid value: "4E": ratio 4E is greater than max/min = 3000000000000000000.000000'],
  ],
  [
    "as large a ratio as the limits leave",
    [{ type: "Pod", min: { cpu: "250m" }, max: { cpu: "1" }, maxLimitRequestRatio: { cpu: "4" } }],
    [],
  ],
  ["a ratio, and only a minimum", [{ type: "Pod", min: { cpu: "1" }, maxLimitRequestRatio: { cpu: "2" } }], []],
  ["a ratio, and only a maximum", [{ type: "Pod", max: { cpu: "1" }, maxLimitRequestRatio: { cpu: "2" } }], []],
  ["a default request and no limit for devices", [{ type: "Container", defaultRequest: { "a.b/c": "1" } }], []],
  [
    "devices that are asked for and not allowed",
    [{ type: "Container", default: { "a.b/c": "2" }, defaultRequest: { "a.b/c": "1" } }],
    ['spec.limits[0].defaultRequest[a.b/c]: Invalid value: "1": default value 2 must equal to defaultRequest value 1 in a.b/c'],
  ],
];

for (const [title, limits, problems] of ROWS) {
  test(`a LimitRange with ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () => {
    assert.deepEqual(problemsOfNew(limitRanges, { spec: { limits } }), problems);
  });
}

/** Errors of a value are repeated for the fields that default to it. */
const SHOWN_AT: Readonly<Record<string, readonly string[]>> = {
  max: ["max", "default", "defaultRequest"],
  min: ["min", "defaultRequest"],
  default: ["default", "defaultRequest"],
  defaultRequest: ["defaultRequest"],
  maxLimitRequestRatio: ["maxLimitRequestRatio"],
};

for (const [member, places] of Object.entries(SHOWN_AT)) {
  test(`resource names in ${member} must be those of a container`, () => {
    const limit = { type: "Container", [member]: { "-": "2", "requests.example.com/x": "2", disk: "2" } };

    assert.deepEqual(
      problemsOfNew(limitRanges, { spec: { limits: [limit] } }),
      places.flatMap((place) => [
        `spec.limits[0].${place}[-]: Invalid value: "-": ${NAME_PART}`,
        `spec.limits[0].${place}[-]: Invalid value: "-": must be a standard resource for containers`,
        `spec.limits[0].${place}[requests.example.com/x]: Invalid value: "requests.example.com/x": doesn't follow extended resource name standard`,
        `spec.limits[0].${place}[disk]: Invalid value: "disk": must be a standard resource type or fully qualified`,
        `spec.limits[0].${place}[disk]: Invalid value: "disk": must be a standard resource for containers`,
      ]),
    );
  });
}

test("a LimitRange is created by a PUT, and its table shows the creation timestamp", () => {
  assert.equal(limitRanges.createOnUpdate, true);
  assert.deepEqual(columnNames(limitRanges), ["Name", "Created At"]);
});
