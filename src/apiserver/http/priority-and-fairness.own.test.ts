/**
 * API Priority and Fairness over HTTPS: slow bodies or many requests of one user cannot starve nodes and other users. The core runs under
 * virtual time, which does not advance: however slow the machine is, no request times out.
 */
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { once } from "node:events";
import { setImmediate as nextTick } from "node:timers/promises";
import { test } from "node:test";
import type { TLSSocket } from "node:tls";
import { memoryStore } from "../../testing/fixtures/memory-store.ts";
import { virtualClock } from "../../testing/virtual-clock.ts";
import type { User } from "../framework/request.ts";
import { startServer, type StartedServer } from "../testing/server.ts";
import { wrappedStore } from "../testing/wrapped-store.ts";
import {
  http1Client,
  http2Client,
  rawConnection,
  readUntil,
  serve,
  text,
  type Client,
  type Received,
  type Served,
} from "./testing/served.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
const FLOWS = "/apis/flowcontrol.apiserver.k8s.io/v1";
const JANE = { name: "jane", groups: [] };
const JOE = { name: "joe", groups: [] };
const EVE = { name: "eve", groups: [] };
const ADMINISTRATOR = { name: "admin", groups: ["system:masters"] };
const NODE = { name: "system:node:a", groups: ["system:nodes"] };

const BODY_BYTES = 3 * 1024 * 1024;
/** Together more than the budget of bodies, and more than there are seats. */
const SLOW_BODIES_EACH = 40;

const CONFIG = { authorizationModes: ["AlwaysAllow"], maxRequestsInFlight: 50, maxMutatingRequestsInFlight: 50 };

interface Started extends AsyncDisposable {
  readonly core: StartedServer;
  readonly served: Served;
  hold(): void;
  /** Lets one commit through; false if none is blocked. */
  releaseOne(): boolean;
  release(): void;
}

async function start(): Promise<Started> {
  const clock = virtualClock();
  const memory = memoryStore(clock);
  let isHeld = false;
  const waiting: (() => void)[] = [];
  const store = wrappedStore(memory, {
    async commit(...all) {
      if (isHeld) await new Promise<void>((resolve) => waiting.push(resolve));
      return memory.commit(...all);
    },
  });
  const core = await startServer({ store, clock, config: CONFIG });
  const served = await serve(core.server.exchange);
  return {
    core,
    served,
    hold: () => void (isHeld = true),
    releaseOne() {
      const go = waiting.shift();
      go?.();
      return go !== undefined;
    },
    release() {
      isHeld = false;
      for (const go of waiting.splice(0)) go();
    },
    async [Symbol.asyncDispose]() {
      await served.close();
      await core[Symbol.asyncDispose]();
    },
  };
}

function post(client: Client, user: User, path: string, object: object): Promise<Received> {
  const body = JSON.stringify(object);
  const headers = { "test-user": JSON.stringify(user), "content-type": "application/json", "content-length": String(body.length) };
  return client.ask({ method: "POST", path, headers, body });
}

/** A request whose body is never sent. */
async function slowBody(served: Served, user: User): Promise<TLSSocket> {
  const socket = await rawConnection(served);
  const lines = ["host: a", `test-user: ${JSON.stringify(user)}`, `content-length: ${BODY_BYTES}`, "expect: 100-continue"];
  socket.write(`POST ${MAPS} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
  return socket;
}

async function dump(core: StartedServer, which: string): Promise<string> {
  return (await core.call("GET", `/debug/api_priority_and_fairness/dump_${which}`)).text;
}

test("slow request bodies of two users take neither seats nor memory from a node's lease, other users and administrators", async () => {
  await using started = await start();
  const { served } = started;
  const users = [JANE, JOE].flatMap((user) => Array.from({ length: SLOW_BODIES_EACH }, () => user));
  const slow = await Promise.all(users.map((user) => slowBody(served, user)));
  try {
    // The server has requested a body, so the requests have been received.
    match(await readUntil(slow[0] as TLSSocket, /\r\n/), /^HTTP\/1\.1 (100|429) /);
    using client = http1Client(served);
    equal((await post(client, NODE, LEASES, { metadata: { name: "a" } })).code, 201);
    equal((await post(client, EVE, MAPS, { metadata: { name: "eve" } })).code, 201);
    equal((await post(client, ADMINISTRATOR, MAPS, { metadata: { name: "admin" } })).code, 201);
    match(await dump(started.core, "priority_levels"), /^global-default, +0, +true, +false, +0, +0, +1, /m);
  } finally {
    for (const socket of slow) socket.destroy();
  }
});

test("a request cancelled while its body is received is answered, and its connection is closed", async () => {
  await using served = await serve(async (request) => {
    const body = request.body();
    request.cancel(new Error("displaced"));
    const reason = await Promise.resolve(body).catch((error: unknown) => error);
    return text(String(reason), { code: 429 });
  });
  const socket = await slowBody(served, JANE);
  const closed = once(socket, "close");
  match(await readUntil(socket, /displaced$/), /HTTP\/1\.1 429 Too Many Requests\r\n(?:.*\r\n)*connection: close\r\n/i);
  socket.end();
  await closed;
});

test("500 concurrent requests of one user do not delay another user's request, and full queues reject with 429", async () => {
  await using started = await start();
  const { served, core } = started;
  const limited = {
    nominalConcurrencyShares: 1,
    lendablePercent: 0,
    borrowingLimitPercent: 0,
    limitResponse: { type: "Queue", queuing: { queues: 64, handSize: 4, queueLengthLimit: 50 } },
  };
  const rule = {
    subjects: [{ kind: "Group", group: { name: "system:authenticated" } }],
    resourceRules: [{ verbs: ["create"], apiGroups: [""], resources: ["configmaps"], namespaces: ["*"] }],
  };
  const spec = {
    priorityLevelConfiguration: { name: "one-seat" },
    matchingPrecedence: 10,
    distinguisherMethod: { type: "ByUser" },
    rules: [rule],
  };
  using client = http2Client(served);
  equal(
    (
      await post(client, ADMINISTRATOR, `${FLOWS}/prioritylevelconfigurations`, {
        metadata: { name: "one-seat" },
        spec: { type: "Limited", limited },
      })
    ).code,
    201,
  );
  equal((await post(client, ADMINISTRATOR, `${FLOWS}/flowschemas`, { metadata: { name: "one-seat" }, spec })).code, 201);

  started.hold();
  const codes: Record<string, number[]> = { jane: [], joe: [] };
  const send = (user: User, name: string) =>
    post(client, user, MAPS, { metadata: { name } }).then(({ code }) => codes[user.name]?.push(code));
  const hot = Array.from({ length: 500 }, (_, index) => send(JANE, `jane-${index}`));
  // 1 executes, 4 queues of 50 wait, the rest is rejected.
  while ((codes["jane"]?.length ?? 0) < 299) await nextTick();
  deepEqual(new Set(codes["jane"]), new Set([429]));
  const quiet = send(JOE, "joe");
  while (!/^one-seat, .*joe/m.test(await dump(core, "requests"))) await nextTick();
  let released = 0;
  while ((codes["joe"]?.length ?? 0) === 0) {
    if (started.releaseOne()) released++;
    else await nextTick();
  }
  // Jane's executing request, one of each of her queues, and his own.
  ok(released <= 10, `${released} requests were executed before joe was answered`);
  deepEqual(codes["joe"], [201]);
  started.release();
  await Promise.all([...hot, quiet]);
  equal(codes["jane"]?.filter((code) => code === 201).length, 201);
});
