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
  /** Waits in the background and records when processing starts. */
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

test("two large requests are processed at once, in round robin over users, however many bodies one of them sends", async () => {
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

test("a large request that ends twice releases one slot", async () => {
  const { clock, started, send } = given();
  const [first] = ["a0", "a1", "a2", "a3"].map((name) => send("alice", name));
  const body = await first;

  body?.release();
  body?.release();
  await clock.settle();

  assert.deepEqual(started, ["a0", "a1", "a2"]);
});

test("a large request that is cancelled while waiting acquires no slot", async () => {
  const { clock, started, send } = given();
  const [first] = ["a0", "a1"].map((name) => send("alice", name));
  const controller = new AbortController();
  const gone = send("alice", "gone", controller.signal);
  void send("alice", "stays");
  await clock.settle();

  controller.abort(new Error("The client disconnected"));
  await assert.rejects(gone, /disconnected/);
  (await first)?.release();
  await clock.settle();

  assert.deepEqual(started, ["a0", "a1", "gone rejected", "stays"]);
});

test("a user with too many waiting large bodies gets 429", async () => {
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
