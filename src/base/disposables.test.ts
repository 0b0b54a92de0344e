import { deepEqual, equal, rejects, throws } from "node:assert/strict";
import { test } from "node:test";
import { Disposables } from "./disposables.ts";

function aStack() {
  const log: string[] = [];
  const resource = (name: string) => ({ name, [Symbol.dispose]: () => void log.push(name) });
  const slowResource = (name: string) => ({
    name,
    async [Symbol.asyncDispose]() {
      log.push(`${name} begins`);
      await Promise.resolve();
      log.push(`${name} ends`);
    },
  });
  return { stack: new Disposables(), log, resource, slowResource };
}

test("disposal runs in reverse order of registration, one after the other", async () => {
  const { stack, log, resource, slowResource } = aStack();
  stack.use(resource("store"));
  stack.use(slowResource("server"));
  stack.defer(() => void log.push("port file"));
  stack.defer(async () => void log.push("log"));

  await stack[Symbol.asyncDispose]();

  deepEqual(log, ["log", "port file", "server begins", "server ends", "store"]);
});

test("use returns the resource", () => {
  const { stack, resource } = aStack();
  equal(stack.use(resource("store")).name, "store");
});

test("a resource that supports both kinds of disposal is disposed of asynchronously", async () => {
  const { stack, log, resource, slowResource } = aStack();
  stack.use({ ...resource("sync"), ...slowResource("async") });
  await stack[Symbol.asyncDispose]();
  deepEqual(log, ["async begins", "async ends"]);
});

test("a failing cleanup does not stop the others, and its error is thrown unchanged", async () => {
  const { stack, log, resource } = aStack();
  const failure = new Error("busy");
  stack.use(resource("first"));
  stack.defer(() => {
    throw failure;
  });
  stack.use(resource("last"));

  await rejects(stack[Symbol.asyncDispose](), failure);

  deepEqual(log, ["last", "first"]);
});

test("several failures are thrown as one AggregateError", async () => {
  const { stack, resource } = aStack();
  const [early, late] = [new Error("early"), new Error("late")];
  stack.defer(() => Promise.reject(early));
  stack.use(resource("between"));
  stack.defer(() => Promise.reject(late));

  await rejects(stack[Symbol.asyncDispose](), {
    name: "AggregateError",
    message: "Cannot stop everything: 2 of 3 failed",
    errors: [late, early],
  });
});

test("disposing twice disposes once, and both calls wait for the end", async () => {
  const { stack, log, slowResource } = aStack();
  stack.use(slowResource("server"));
  void stack[Symbol.asyncDispose]();
  equal(stack.isDisposed, true);

  await stack[Symbol.asyncDispose]();

  deepEqual(log, ["server begins", "server ends"]);
});

test("a disposed owner rejects new resources", async () => {
  const { stack, resource } = aStack();
  await stack[Symbol.asyncDispose]();
  throws(() => stack.use(resource("late")), { name: "AssertionFailed" });
  throws(() => stack.move(), { name: "AssertionFailed" });
});

test("a start that fails half-way disposes of what it started; one that succeeds moves it to the new owner", async () => {
  const { log, resource } = aStack();
  async function start(isBroken: boolean): Promise<Disposables> {
    await using started = new Disposables();
    started.use(resource(isBroken ? "half" : "whole"));
    if (isBroken) throw new Error("no port");
    return started.move();
  }

  await rejects(start(true), { message: "no port" });
  deepEqual(log, ["half"]);
  const running = await start(false);
  deepEqual(log, ["half"]);
  await running[Symbol.asyncDispose]();
  deepEqual(log, ["half", "whole"]);
});
