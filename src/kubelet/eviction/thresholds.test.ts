import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { nextPressure, NO_PRESSURE, type PressureState } from "./pressure.ts";
import { observationsOf, type Observations } from "./signals.ts";
import { HARD_DEFAULT, HARD_DISABLED, metThresholds, parseThresholds, type SignalMap, type WrittenThresholds } from "./thresholds.ts";

const NONE = { hard: {}, soft: {}, softGracePeriods: {}, minReclaim: {} };
const parse = (written: Partial<WrittenThresholds>) => parseThresholds({ ...NONE, ...written });
const memory = (available: number): Observations => new Map([["memory.available", { available, capacity: 1_000 }]]);

test("the defaults are upstream's, and those of a developer's machine have no threshold", () => {
  deepEqual(
    parse({ hard: HARD_DEFAULT }).thresholds.map(({ signal, value }) => [signal, value]),
    [
      ["memory.available", { amount: 100 * 2 ** 20 }],
      ["nodefs.available", { fraction: 0.1 }],
      ["nodefs.inodesFree", { fraction: 0.05 }],
      ["imagefs.available", { fraction: 0.15 }],
      ["imagefs.inodesFree", { fraction: 0.05 }],
    ],
  );
  deepEqual(parse({ hard: HARD_DISABLED }), { thresholds: [], problems: [] });
});

for (const { hard = {}, soft = {}, softGracePeriods = {}, minReclaim = {}, problem } of [
  {
    hard: { "disk.available": "1" },
    problem:
      "unsupported eviction signal disk.available; supported are memory.available, nodefs.available, nodefs.inodesFree, imagefs.available, imagefs.inodesFree, containerfs.available, containerfs.inodesFree, pid.available",
  },
  { hard: { "memory.available": "120%" }, problem: "memory.available must be from 0% to 100%, is 120%" },
  { hard: { "memory.available": "%" }, problem: "memory.available must be from 0% to 100%, is %" },
  { hard: { "memory.available": "0" }, problem: "memory.available must be positive, is 0" },
  {
    hard: { "memory.available": "much" },
    problem: 'memory.available must be a quantity such as 100Mi, or a percentage such as 10%, is "much"',
  },
  {
    soft: { "memory.available": "1Gi" },
    problem: "grace period must be specified for the soft eviction threshold memory.available",
  },
  {
    soft: { "memory.available": "1Gi" },
    softGracePeriods: { "memory.available": "long" },
    problem: 'the grace period of memory.available must be a duration such as 1m30s, is "long"',
  },
  { minReclaim: { "memory.available": "-1" }, problem: "memory.available must be positive, is -1" },
] as readonly (Partial<WrittenThresholds> & { readonly problem: string })[]) {
  test(`invalid eviction thresholds are rejected: ${problem}`, () =>
    deepEqual(parse({ hard, soft, softGracePeriods, minReclaim }).problems, [problem]));
}

for (const { hard, available, isMet } of [
  { hard: { "memory.available": "100" }, available: 99, isMet: true },
  { hard: { "memory.available": "100" }, available: 100, isMet: false },
  { hard: { "memory.available": "10%" }, available: 99, isMet: true },
  { hard: { "memory.available": "10%" }, available: 100, isMet: false },
  { hard: { "pid.available": "10%" }, available: 0, isMet: false },
] as readonly { readonly hard: SignalMap; readonly available: number; readonly isMet: boolean }[]) {
  test(`${JSON.stringify(hard)} with ${available} of 1000 bytes of memory available is ${isMet ? "" : "not "}met`, () =>
    equal(metThresholds(parse({ hard }).thresholds, memory(available), { withReclaim: false }).length > 0, isMet));
}

interface Step {
  readonly atSeconds: number;
  readonly available: number;
  readonly expected: string;
}

const ROWS: readonly { readonly title: string; readonly written: Partial<WrittenThresholds>; readonly steps: readonly Step[] }[] = [
  {
    title: "a hard threshold acts at once, and its condition stays for the transition period",
    written: { hard: { "memory.available": "100" } },
    steps: [
      { atSeconds: 0, available: 500, expected: "" },
      { atSeconds: 10, available: 50, expected: "evict MemoryPressure" },
      { atSeconds: 20, available: 500, expected: "MemoryPressure" },
      { atSeconds: 309, available: 500, expected: "MemoryPressure" },
      { atSeconds: 310, available: 500, expected: "" },
    ],
  },
  {
    title: "a soft threshold acts after its grace period, which starts again when it was not met in between",
    written: { soft: { "memory.available": "100" }, softGracePeriods: { "memory.available": "30s" } },
    steps: [
      { atSeconds: 0, available: 50, expected: "MemoryPressure" },
      { atSeconds: 20, available: 50, expected: "MemoryPressure" },
      { atSeconds: 29, available: 150, expected: "MemoryPressure" },
      { atSeconds: 30, available: 50, expected: "MemoryPressure" },
      { atSeconds: 60, available: 50, expected: "evict MemoryPressure" },
    ],
  },
  {
    title: "a threshold that acted continues until its minimum reclaim is satisfied",
    written: { hard: { "memory.available": "100" }, minReclaim: { "memory.available": "50" } },
    steps: [
      { atSeconds: 0, available: 140, expected: "" },
      { atSeconds: 10, available: 90, expected: "evict MemoryPressure" },
      { atSeconds: 20, available: 140, expected: "evict MemoryPressure" },
      { atSeconds: 30, available: 150, expected: "MemoryPressure" },
    ],
  },
];

for (const { title, written, steps } of ROWS) {
  test(title, () => {
    const { thresholds } = parse(written);
    let state: PressureState = NO_PRESSURE;
    for (const { atSeconds, available, expected } of steps) {
      const nowMs = 1_000_000 + atSeconds * 1_000;
      state = nextPressure(state, { thresholds, observations: memory(available), transitionMs: 300_000, nowMs });
      equal([...(state.met.length > 0 ? ["evict"] : []), ...state.conditions].join(" "), expected, `after ${atSeconds} s`);
    }
  });
}

test("all signals are observed; a file system without a fixed number of inodes has no such signal", () => {
  const disk = { availableBytes: 1, capacityBytes: 2, usedBytes: 1 };
  const observed = observationsOf({
    memoryAvailableBytes: 3,
    memoryWorkingSetBytes: 4,
    rootFilesystem: { ...disk, inodes: 10, inodesFree: 5 },
    imageFilesystem: { ...disk, inodes: 0, inodesFree: 0 },
    containerFilesystem: disk,
    processes: { running: 6, max: 10 },
  });
  deepEqual(
    [...observed].map(([signal, { available, capacity }]) => `${signal} ${available}/${capacity}`),
    [
      "memory.available 3/7",
      "nodefs.available 1/2",
      "nodefs.inodesFree 5/10",
      "imagefs.available 1/2",
      "containerfs.available 1/2",
      "pid.available 4/10",
    ],
  );
});
