import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Rejection } from "../../framework/plugin.ts";
import type { Resources } from "../../framework/resources.ts";
import { demandOf, insufficiency, type Room } from "./insufficiency.ts";

const GPU = "example.com/gpu";

const ROOM = { allowed: 2, count: 1, has: resources(10, 20, 30, 4), used: resources(5, 5, 5, 1) };

const ROWS: readonly (readonly [what: string, asked: Resources, room: Partial<typeof ROOM>, expected: Rejection | undefined])[] = [
  ["nothing", resources(0), {}, undefined],
  ["exactly what is left", resources(5, 15, 25, 3), {}, undefined],
  ["more CPU than is left", resources(6), {}, lacks("Insufficient cpu")],
  ["more memory than is left", resources(0, 16), {}, lacks("Insufficient memory")],
  ["more storage than is left", resources(0, 0, 26), {}, lacks("Insufficient ephemeral-storage")],
  ["more devices than are left", resources(0, 0, 0, 4), {}, lacks(`Insufficient ${GPU}`)],
  ["as much CPU as the node has in all", resources(10), {}, lacks("Insufficient cpu")],
  ["more CPU than the node has in all", resources(11), {}, tooSmall("Insufficient cpu")],
  ["more memory than the node has in all", resources(0, 21), {}, tooSmall("Insufficient memory")],
  ["more storage than the node has in all", resources(0, 0, 31), {}, tooSmall("Insufficient ephemeral-storage")],
  ["more devices than the node has in all", resources(0, 0, 0, 5), {}, tooSmall(`Insufficient ${GPU}`)],
  [
    "too much of all",
    resources(6, 16, 26, 4),
    {},
    lacks("Insufficient cpu", "Insufficient memory", "Insufficient ephemeral-storage", `Insufficient ${GPU}`),
  ],
  [
    "too much of all, of one in any case",
    resources(6, 21, 26, 4),
    {},
    tooSmall("Insufficient cpu", "Insufficient memory", "Insufficient ephemeral-storage", `Insufficient ${GPU}`),
  ],
  ["nothing, of a node with all the Pods that it takes", resources(0), { count: 2 }, lacks("Too many pods")],
  ["too much, of a node with all the Pods that it takes", resources(6), { count: 2 }, lacks("Too many pods", "Insufficient cpu")],
  [
    "a device, of a node with all the Pods that it takes",
    resources(0, 0, 0, 5),
    { count: 2 },
    tooSmall("Too many pods", `Insufficient ${GPU}`),
  ],
  ["memory only, of a node with too much CPU in use", resources(0, 1), { used: resources(11) }, undefined],
  ["a device, of a node that has none", resources(0, 0, 0, 1), { has: resources(10, 20, 30) }, tooSmall(`Insufficient ${GPU}`)],
];

const PLAIN = { isIgnored: () => false, isByDevices: () => false };

for (const [what, asked, room, expected] of ROWS) {
  test(`a Pod that requests ${what} ${expected === undefined ? "fits" : "does not fit"}`, () => {
    deepEqual(insufficiency(demandOf(asked, PLAIN), roomOf({ ...ROOM, ...room })), expected);
  });
}

test("a resource of devices is checked only on nodes that provide it themselves", () => {
  const demand = demandOf(resources(0, 0, 0, 5), { ...PLAIN, isByDevices: (name) => name === GPU });
  equal(insufficiency(demand, roomOf({ ...ROOM, has: resources(10, 20, 30) })), undefined);
  equal(insufficiency(demand, roomOf({ ...ROOM, has: resources(10, 20, 30, 4) }))?.reasons[0], `Insufficient ${GPU}`);
});

test("ignored resources and zero amounts are not checked", () => {
  const room = roomOf({ ...ROOM, has: resources(10, 20, 30) });
  equal(insufficiency(demandOf(resources(1, 1, 1, 5), { ...PLAIN, isIgnored: (name) => name === GPU }), room), undefined);
  const zero: Resources = { ...resources(1), scalars: new Map([[GPU, 0]]) };
  equal(insufficiency(demandOf(zero, PLAIN), room), undefined);
});

test("a Pod that fits never exceeds a node's capacity, and one that does not would", () => {
  const amounts = fc.tuple(fc.nat(20), fc.nat(20), fc.nat(20), fc.nat(20));
  const cases = fc.record({ asked: amounts, has: amounts, used: amounts, count: fc.nat(3), allowed: fc.nat(3) });
  fc.assert(
    fc.property(cases, ({ asked, has, used, count, allowed }) => {
      const demand = demandOf(resources(...asked), PLAIN);
      const room = roomOf({ has: resources(...has), used: resources(...used), count, allowed });

      const answer = insufficiency(demand, room);

      const isOver = asked.map((amount, index) => amount > 0 && amount + (used[index] ?? 0) > (has[index] ?? 0));
      const lacking = isOver.filter(Boolean).length + (count >= allowed ? 1 : 0);
      equal(answer?.reasons.length ?? 0, lacking);
      if (answer !== undefined)
        equal(
          answer.resolvable,
          asked.every((amount, index) => amount <= (has[index] ?? 0)),
        );
    }),
  );
});

function resources(milliCpu: number, memoryBytes = 0, ephemeralStorageBytes = 0, gpus = 0): Resources {
  return { milliCpu, memoryBytes, ephemeralStorageBytes, scalars: new Map(gpus === 0 ? [] : [[GPU, gpus]]) };
}

function roomOf({ allowed, count, has, used }: typeof ROOM): Room {
  return { podCount: count, allowedPods: allowed, allocatable: has, requested: used };
}

function lacks(...reasons: string[]): Rejection {
  return { reasons, resolvable: true };
}

function tooSmall(...reasons: string[]): Rejection {
  return { reasons, resolvable: false };
}
