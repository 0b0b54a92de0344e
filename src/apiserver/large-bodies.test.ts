import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "../testing/virtual-clock.ts";
import { LargeBodies, type LargeBody } from "./large-bodies.ts";

const MEBIBYTE = 1024 * 1024;
const never = new AbortController().signal;

function given() {
  const clock = virtualClock();
  const metrics = { rejected: 0 };
  const bodies = new LargeBodies(clock, metrics, { rests: true });
  const started: string[] = [];
  /** Reserves in the background and writes down when it may be read. */
  const send = (user: string, name: string, bytes = MEBIBYTE, signal = never): Promise<LargeBody> => {
    const reserved = bodies.reserve(user, bytes, signal);
    void reserved.then(
      () => started.push(name),
      () => started.push(`${name} rejected`),
    );
    return reserved;
  };
  return { clock, metrics, bodies, started, send };
}

test("large bodies of one user fill a quarter of the memory, and those of others are read meanwhile", async () => {
  const { clock, started, send } = given();

  const [first] = Array.from({ length: 17 }, (_, index) => send("alice", `a${index}`));
  void send("bob", "b0");
  await clock.settle();

  assert.deepEqual(started.slice(-2), ["a15", "b0"]);
  (await first)?.release();
  await clock.settle();
  assert.equal(started.at(-1), "a16");
});

test("users take turns, however many bodies one of them sends", async () => {
  const { clock, started, send, bodies } = given();
  const fill = await Promise.all(Array.from({ length: 4 }, (_, index) => bodies.reserve(`user-${index}`, 16 * MEBIBYTE, never)));
  for (const name of ["a0", "a1", "a2"]) void send("alice", name);
  void send("bob", "b0");
  await clock.settle();
  assert.deepEqual(started, []);

  for (const body of fill) body.release();
  await clock.settle();

  assert.deepEqual(started, ["a0", "b0", "a1", "a2"]);
});

test("two requests are worked on at once, by turns of their users", async () => {
  const { clock, bodies } = given();
  const order: string[] = [];
  const reserved = await Promise.all(["alice", "alice", "alice", "bob"].map((user) => bodies.reserve(user, MEBIBYTE, never)));
  reserved.forEach((body, index) => void body.startWork().then(() => order.push(`${index}`)));
  await clock.settle();
  assert.deepEqual(order, ["0", "1"]);

  reserved[0]?.release();
  await clock.settle();
  reserved[1]?.release();
  await clock.settle();

  assert.deepEqual(order, ["0", "1", "2", "3"]);
});

test("a request that is given up gives back its place and its turn", async () => {
  const { clock, started, send, bodies } = given();
  const fill = await bodies.reserve("alice", 16 * MEBIBYTE, never);
  const controller = new AbortController();
  const gone = send("alice", "gone", MEBIBYTE, controller.signal);
  const stays = send("alice", "stays");
  await clock.settle();

  controller.abort(new Error("The client has gone away"));
  await assert.rejects(gone, /gone away/);
  fill.release();
  (await stays).release();

  assert.deepEqual(started, ["gone rejected", "stays"]);
});

test("a user whose bodies wait in large numbers gets 429", async () => {
  const { clock, metrics, started, send } = given();
  for (let index = 0; index < 117; index++) void send("alice", `a${index}`).catch(() => undefined);
  await clock.settle();

  assert.ok(started.includes("a116 rejected"));
  assert.ok(!started.includes("a115 rejected"));
  assert.equal(metrics.rejected, 1);
  await (await send("bob", "b")).startWork();
});
