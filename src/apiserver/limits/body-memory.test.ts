import { deepEqual, doesNotThrow, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { BodyMemory, type BodyReservation } from "./body-memory.ts";
import { OverloadError } from "../framework/overload.ts";
import type { BodyOwner } from "../framework/concurrency.ts";

const KIB = 1024;
const BUDGET = 1_000 * KIB;
const USERS = { level: "global-default", share: 0.1, isExempt: false };
const NODES = { level: "node-high", share: 0.2, isExempt: false };

/** A BodyMemory that records displaced bodies by flow. */
function bodyMemory() {
  const memory = new BodyMemory(BUDGET);
  const displaced: string[] = [];
  const take = (owner: BodyOwner, sizeKib: number): BodyReservation =>
    memory.reserve(owner, {
      sizeBytes: sizeKib * KIB,
      displace: (reason) => {
        equal(reason instanceof OverloadError, true);
        displaced.push(owner.flow);
      },
    });
  return { memory, displaced, take };
}

test("a priority level may borrow the whole body budget while no other level needs it", () => {
  const { displaced, take } = bodyMemory();
  for (let index = 0; index < 10; index++) take({ ...USERS, flow: "ann" }, 100);
  throws(() => take({ ...USERS, flow: "ann" }, 100), OverloadError);
  deepEqual(displaced, []);
});

test("a priority level within its own share displaces the oldest body of the largest borrower", () => {
  const { memory, displaced, take } = bodyMemory();
  take({ ...USERS, flow: "bob" }, 300);
  take({ ...USERS, flow: "ann" }, 350);
  take({ ...USERS, flow: "ann" }, 350);
  take({ ...NODES, flow: "node-1" }, 50);
  deepEqual(displaced, ["ann"]);
  equal(memory.costBytes, (300 + 350 + 50) * KIB);
});

test("within a priority level, the flow that holds most memory is displaced by a flow that holds less", () => {
  const { displaced, take } = bodyMemory();
  for (let index = 0; index < 6; index++) take({ ...USERS, flow: "ann" }, 100);
  for (let index = 0; index < 4; index++) take({ ...USERS, flow: "bob" }, 100);
  take({ ...USERS, flow: "eve" }, 16);
  deepEqual(displaced, ["ann"]);
  take({ ...USERS, flow: "bob" }, 60);
  throws(() => take({ ...USERS, flow: "bob" }, 100), OverloadError, "bob would hold as much as ann");
});

test("bodies of requests with a seat are not displaced, and a level gets its own share all the same", () => {
  const { displaced, take } = bodyMemory();
  take({ ...USERS, flow: "ann" }, 1_000).keep();
  throws(() => take({ ...USERS, flow: "bob" }, 16), OverloadError);
  doesNotThrow(() => take({ ...NODES, flow: "node-1" }, 200));
  throws(() => take({ ...NODES, flow: "node-1" }, 16), OverloadError, "beyond its share it would borrow");
  deepEqual(displaced, []);
});

test("a body counts as at least 16 KiB, and released memory can be reserved again, once", () => {
  const { memory, take } = bodyMemory();
  const first = take({ ...USERS, flow: "ann" }, 0);
  equal(memory.costBytes, 16 * KIB);
  first.release();
  first.release();
  equal(memory.costBytes, 0);
});

test("bodies of administrators are never rejected", () => {
  const { take } = bodyMemory();
  take({ ...USERS, flow: "ann" }, 1_000);
  doesNotThrow(() => take({ level: "exempt", share: 0, flow: "root", isExempt: true }, 3_000));
});
