import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { QueueSet, type QueueSetConfig } from "./queue-set.ts";
import { SeatDemand } from "./seat-demand.ts";
import { FlowStatistics, LevelStatistics } from "./statistics.ts";
import { flowRequest } from "./testing/flow-requests.ts";
import { Ticket, type QueuedFlow } from "./ticket.ts";
import { ONE_SEAT, type WorkEstimate } from "./work-estimate.ts";

function flow(name: string, ...hand: readonly number[]): QueuedFlow {
  return { flowSchema: "schema", distinguisher: name, hand, statistics: new FlowStatistics() };
}

function setOf(config: Partial<QueueSetConfig>, limit: number) {
  const demand = new SeatDemand(0);
  const set = new QueueSet(
    { queues: 4, handSize: 1, queueLengthLimit: 10, ...config },
    { statistics: new LevelStatistics(0), demand, nowMs: 0 },
  );
  set.configure({ queues: 4, handSize: 1, queueLengthLimit: 10, ...config }, limit, 0);
  const order: string[] = [];
  const start = (of: QueuedFlow, nowMs: number, estimate: WorkEstimate = ONE_SEAT) => {
    const ticket = new Ticket(of, flowRequest(), estimate, nowMs);
    ticket.dispatched = () => order.push(of.distinguisher);
    return { ticket, reason: set.start(ticket, nowMs) };
  };
  return { set, demand, order, start };
}

test("a request with a free seat executes immediately; the next waits for the seat", () => {
  const { set, order, start } = setOf({}, 1);
  const first = start(flow("a", 0), 0).ticket;
  const second = start(flow("b", 1), 1).ticket;
  deepEqual([first.state, second.state, set.waiting], ["executing", "waiting", 1]);
  set.finish(first, 5);
  deepEqual([second.state, set.waiting, set.executing, order], ["executing", 0, 1, ["a", "b"]]);
  set.finish(second, 6);
  equal(set.isIdle, true);
});

test("a request of a light flow precedes earlier requests of a heavy flow", () => {
  const { set, order, start } = setOf({}, 1);
  const [hot, quiet] = [flow("hot", 0), flow("quiet", 1)];
  const running = start(hot, 0).ticket;
  for (let index = 0; index < 8; index++) start(hot, 1);
  start(quiet, 2);
  let current = running;
  for (let nowMs = 10; set.executing > 0; nowMs += 10) {
    set.finish(current, nowMs);
    current = [...set.queues].flatMap(({ executing }) => [...executing])[0] ?? current;
  }
  ok(order.indexOf("quiet") <= 2, `quiet was served as number ${order.indexOf("quiet")} of ${order.join()}`);
});

test("two flows with a constant backlog are served fairly by work, not by number of requests", () => {
  const { set, start } = setOf({ queueLengthLimit: 1_000 }, 10);
  const [wide, narrow] = [flow("wide", 0), flow("narrow", 1)];
  for (let index = 0; index < 400; index++) {
    start(wide, 0, { ...ONE_SEAT, initialSeats: 5 });
    start(narrow, 0);
  }
  let [wideSeats, narrowSeats] = [0, 0];
  for (let nowMs = 10; nowMs <= 300; nowMs += 10) {
    for (const ticket of set.queues.flatMap(({ executing }) => [...executing])) {
      if (ticket.flow === wide) wideSeats += ticket.seats;
      else narrowSeats += ticket.seats;
      set.finish(ticket, nowMs);
    }
  }
  ok(Math.abs(wideSeats - narrowSeats) / (wideSeats + narrowSeats) < 0.15, `${wideSeats} and ${narrowSeats} seats`);
});

test("a request is rejected when its queue is full and no seat is free", () => {
  const { set, start } = setOf({ queueLengthLimit: 2 }, 1);
  const one = flow("one", 0);
  const reasons = [0, 1, 2, 3].map(() => start(one, 0).reason);
  deepEqual(reasons, [undefined, undefined, undefined, "queue-full"]);
  equal(start(flow("other", 1), 0).reason, undefined, "other queues have room");
  deepEqual([set.rejected, one.statistics.rejected["queue-full"]], [1, 1]);
});

test("a level without queues rejects requests without a free seat, and an exempt level none", () => {
  const reject = setOf({ queues: 0 }, 1);
  equal(reject.start(flow("a"), 0).reason, undefined);
  equal(reject.start(flow("a"), 0).reason, "concurrency-limit");
  const exempt = setOf({ queues: -1 }, 0);
  for (let index = 0; index < 100; index++) equal(exempt.start(flow("a"), 0).reason, undefined);
  equal(exempt.set.executing, 100);
});

test("a cancelled request leaves its queue and unblocks the next one", () => {
  const { set, order, start } = setOf({}, 3);
  const running = start(flow("a", 0), 0, { ...ONE_SEAT, initialSeats: 2 }).ticket;
  const wide = start(flow("b", 1), 0, { ...ONE_SEAT, initialSeats: 3 }).ticket;
  start(flow("b", 1), 0);
  equal(set.waiting, 2);
  set.cancel(wide, 1);
  deepEqual([set.waiting, set.cancelled, set.rejected, order], [0, 1, 1, ["a", "b"]]);
  set.cancel(wide, 2);
  equal(set.cancelled, 1);
  set.finish(running, 3);
});

test("a request wider than the limit executes alone", () => {
  const { set, start } = setOf({}, 2);
  const first = start(flow("a", 0), 0).ticket;
  const wide = start(flow("b", 1), 0, { ...ONE_SEAT, initialSeats: 5 }).ticket;
  equal(wide.state, "waiting");
  set.finish(first, 1);
  equal(wide.state, "executing");
});

test("a write keeps its seats until its watches are notified, without a timer", () => {
  const { set, start } = setOf({}, 1);
  const write = start(flow("a", 0), 0, { initialSeats: 1, finalSeats: 1, additionalLatencyMs: 5 }).ticket;
  set.finish(write, 10);
  const next = start(flow("b", 1), 12).ticket;
  deepEqual([next.state, set.nextReleaseMs, set.seatsInUse], ["waiting", 15, 1]);
  set.advance(15);
  deepEqual([next.state, next.startedMs, set.nextReleaseMs], ["executing", 15, undefined]);
});

test("surplus queues are removed once empty, and additional seats dispatch waiting requests", () => {
  const { set, start } = setOf({}, 1);
  const first = start(flow("a", 3), 0).ticket;
  const second = start(flow("a", 3), 0).ticket;
  set.configure({ queues: 2, handSize: 1, queueLengthLimit: 10 }, 1, 1);
  deepEqual([set.queues.length, second.state], [2, "waiting"]);
  set.configure({ queues: 2, handSize: 1, queueLengthLimit: 10 }, 2, 2);
  equal(second.state, "executing");
  set.finish(first, 3);
  set.finish(second, 3);
  deepEqual([set.queues.length, set.isIdle], [2, true]);
});

test("seat demand counts executing and waiting seats", () => {
  const { set, demand, start } = setOf({}, 1);
  const first = start(flow("a", 0), 0).ticket;
  start(flow("a", 0), 0);
  equal(demand.seats, 2);
  set.finish(first, 1);
  equal(demand.seats, 1);
});
