import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "../../testing/virtual-clock.ts";
import { LargeBodies, type LargeBody } from "./large-bodies.ts";

const never = new AbortController().signal;

function given() {
  const clock = virtualClock();
  const metrics = { rejected: 0 };
  const bodies = new LargeBodies(clock, metrics, { rests: true });
  const started: string[] = [];
  /** Waits in the background and writes down when it may be worked on. */
  const send = (user: string, name: string, signal = never): Promise<LargeBody> => {
    const turn = bodies.startWork(user, signal);
    void turn.then(
      () => started.push(name),
      () => started.push(`${name} rejected`),
    );
    return turn;
  };
  return { clock, metrics, bodies, started, send };
}

test("two requests are worked on at once, and users take turns, however many bodies one of them sends", async () => {
  const { clock, started, send } = given();
  const alice = ["a0", "a1", "a2", "a3"].map((name) => send("alice", name));
  void send("bob", "b0");
  await clock.settle();
  assert.deepEqual(started, ["a0", "a1"]);

  (await alice[0])?.release();
  await clock.settle();
  (await alice[1])?.release();
  await clock.settle();

  assert.deepEqual(started, ["a0", "a1", "a2", "b0"]);
});

test("a request that ends twice gives back one turn", async () => {
  const { clock, started, send } = given();
  const [first] = ["a0", "a1", "a2", "a3"].map((name) => send("alice", name));
  const body = await first;

  body?.release();
  body?.release();
  await clock.settle();

  assert.deepEqual(started, ["a0", "a1", "a2"]);
});

test("a request that is given up while it waits gets no turn", async () => {
  const { clock, started, send } = given();
  const [first] = ["a0", "a1"].map((name) => send("alice", name));
  const controller = new AbortController();
  const gone = send("alice", "gone", controller.signal);
  void send("alice", "stays");
  await clock.settle();

  controller.abort(new Error("The client has gone away"));
  await assert.rejects(gone, /gone away/);
  (await first)?.release();
  await clock.settle();

  assert.deepEqual(started, ["a0", "a1", "gone rejected", "stays"]);
});

test("a user whose bodies wait in large numbers gets 429", async () => {
  const { clock, metrics, started, send } = given();
  const alice = Array.from({ length: 103 }, (_, index) => send("alice", `a${index}`));
  for (const turn of alice) turn.catch(() => undefined);
  const bob = send("bob", "b");
  await clock.settle();

  assert.ok(started.includes("a102 rejected"));
  assert.ok(!started.includes("a101 rejected"));
  assert.equal(metrics.rejected, 1);
  for (const turn of alice.slice(0, 2)) (await turn).release();
  await bob;
});
