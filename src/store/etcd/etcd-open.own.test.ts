import { test, type TestContext } from "node:test";
import { doesNotReject, equal, fail, match, ok, rejects } from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { once } from "node:events";
import { makeCertificates } from "../../testing/servers/etcd-server.ts";
import { startFakeEtcd, type FakeEtcd, type FakeEtcdOptions } from "../../testing/servers/fake-etcd.ts";
import { needs } from "../../testing/needs.ts";
import type { Store } from "../store.ts";
import { PODS, Seen, committed, put } from "../testing/harness.ts";
import { endlessWaits, etcd, openStore, storeOn } from "./testing/harness.ts";

/** A long timeout: a running member responds at once, unless the machine is busy. */
const impatient = {
  timeouts: { readMs: 300, readAttemptMs: 100, commitMs: 300, commitAttemptMs: 100, repeatableAttemptMs: 100 },
};

async function fake(context: TestContext, options: FakeEtcdOptions): Promise<FakeEtcd> {
  const server = await startFakeEtcd(options);
  context.after(async () => server[Symbol.asyncDispose]());
  return server;
}

/** An address without a listener. */
async function deadUrl(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return `http://127.0.0.1:${port}`;
}

for (const { it, endpoints, options = {}, says } of [
  { it: "no endpoint", endpoints: [], says: /no endpoint/ },
  { it: "an endpoint without a scheme", endpoints: ["127.0.0.1:2379"], says: /"127.0.0.1:2379".*https:\/\/host:2379/ },
  { it: "an endpoint with a path", endpoints: ["http://127.0.0.1:2379/v3"], says: /must look like/ },
  { it: "an endpoint with an impossible port", endpoints: ["http://127.0.0.1:99999"], says: /must look like/ },
  { it: "a root without a slash", endpoints: ["http://127.0.0.1:1"], options: { root: "registry" }, says: /begin with a slash/ },
  { it: "a root that ends with a slash", endpoints: ["http://127.0.0.1:1"], options: { root: "/registry/" }, says: /not end with one/ },
  { it: "an empty root", endpoints: ["http://127.0.0.1:1"], options: { root: "" }, says: /begin with a slash/ },
  { it: "certificates for plaintext", endpoints: ["http://127.0.0.1:1"], options: { tls: {} }, says: /must begin with https/ },
]) {
  test(`${it} is rejected before any attempt`, async () => {
    await rejects(openStore(endpoints, options), (error: { reason: string; message: string }) => {
      equal(error.reason, "Invalid");
      match(error.message, says);
      return true;
    });
  });
}

test("an etcd version that corrupts data is rejected, with the remedy", async (context) => {
  const { url } = await fake(context, { version: "3.5.1" });
  await rejects(openStore([url]), (error: { reason: string; message: string }) => {
    equal(error.reason, "Unsupported");
    match(error.message, new RegExp(`${url}: version 3.5.1 is known to corrupt data .* upgrade to 3.5.13`));
    return true;
  });
});

test("one member of a rejected version among good ones is enough to reject", async (context) => {
  const servers = [await fake(context, { version: "3.5.13" }), await fake(context, { version: "3.3.27" })];
  const opening = openStore(
    servers.map(({ url }) => url),
    { clock: endlessWaits },
  );
  await rejects(opening, { reason: "Unsupported", message: /3\.3\.27 is too old/ });
});

test("members of two clusters are rejected, and both are named", async (context) => {
  const [one, other] = [
    await fake(context, { version: "3.5.13", clusterId: 0xabcn }),
    await fake(context, { version: "3.5.13", clusterId: 0xdefn }),
  ];
  await rejects(openStore([one.url, other.url], { clock: endlessWaits }), (error: { reason: string; message: string }) => {
    equal(error.reason, "Unsupported");
    for (const part of [one.url, other.url, "abc", "def"]) ok(error.message.includes(part), `${error.message} must name ${part}`);
    return true;
  });
});

for (const { versions, progress } of [
  { versions: ["3.5.13"], progress: true },
  { versions: ["3.5.13", "3.6.1"], progress: true },
  { versions: ["3.5.13", "3.4.23"], progress: false },
  { versions: ["3.5.13", "3.5.12"], progress: false },
]) {
  test(`with members of versions ${versions.join(" and ")} progress notifications are ${progress ? "" : "not "}reliable`, async (context) => {
    const servers = await Promise.all(versions.map((version) => fake(context, { version })));
    const store = await storeOn(
      context,
      servers.map(({ url }) => url),
      { clock: endlessWaits },
    );
    equal(store.capabilities.progress, progress);
  });
}

test("a member that returns as another version or cluster is no longer used", async (context) => {
  const server = await fake(context, { version: "3.5.13" });
  const store = await storeOn(context, [server.url], impatient);
  for (const [next, says] of [
    [{ version: "3.5.0" }, /3\.5\.0 is known to corrupt/],
    [{ version: "3.5.13", clusterId: 2n }, /belongs to cluster 2/],
  ] as const) {
    server.become(next);
    await rejects(refusalBy(store, says), { reason: "Unavailable", message: says });
  }
  equal(server.otherCalls, 0, "nothing was asked of it before it had said who it is");
});

/** A call on a connection that is being closed, or whose timeout expires before there is another, says nothing about the member. */
async function refusalBy(store: Store, says: RegExp): Promise<unknown> {
  for (;;) {
    try {
      return await store.currentRevision();
    } catch (error) {
      if (says.test((error as Error).message)) throw error;
    }
  }
}

test("a member is identified once per connection", async (context) => {
  const server = await fake(context, { version: "3.5.13" });
  const store = await storeOn(context, [server.url], impatient);
  // It answers none of them. One that times out before it could be sent, on a busy machine, is repeated.
  while (server.otherCalls < 3) await Promise.allSettled([store.get(`${PODS}a`), store.get(`${PODS}a`), store.list(PODS)]);
  equal(server.statusCalls, 1);
});

test("if no endpoint responds, each is named with its error", async () => {
  const [one, other] = [await deadUrl(), await deadUrl()];
  const { reason, message } = await openingFailure([one, other]);
  equal(reason, "Unavailable");
  match(message, new RegExp(`${one}: .*ECONNREFUSED.*; ${other}: .*ECONNREFUSED`));
});

/** Why it cannot be opened. If a busy machine had no time left for the last attempt, that says nothing about the endpoints. */
async function openingFailure(endpoints: readonly string[]): Promise<{ readonly reason: string; readonly message: string }> {
  for (;;) {
    const failure = await openStore(endpoints, { timeouts: { openMs: 2_000 } }).then(
      () => fail("opening must fail"),
      (error: { reason: string; message: string }) => error,
    );
    if (!/deadline exceeded/i.test(failure.message)) return failure;
  }
}

test("an etcd that starts a little later is waited for", async (context) => {
  const url = await deadUrl();
  const opening = openStore([url]);
  const late = await startFakeEtcd({ version: "3.5.13", port: Number(new URL(url).port) });
  context.after(async () => late[Symbol.asyncDispose]());
  await (await opening).close();
});

test("a dead endpoint and a silent one beside a good one do not matter", needs("etcd"), async (context) => {
  const { endpoints } = await etcd(context);
  const silent = createServer((socket) => context.after(() => void socket.destroy())).listen(0, "127.0.0.1");
  await once(silent, "listening");
  context.after(() => void silent.close());
  const silentUrl = `http://127.0.0.1:${(silent.address() as { port: number }).port}`;
  const store = await storeOn(context, [await deadUrl(), silentUrl, ...endpoints]);

  const seen = new Seen(store, PODS, await store.currentRevision());
  const revision = await committed(store, put(`${PODS}a`, "1"));
  await seen.untilRevision(revision);
});

test("everything works over TLS with a client certificate", needs("etcd", "openssl"), async (context) => {
  const { endpoints, tls } = await etcd(context, { secure: true });
  ok(tls !== undefined);
  const store = await storeOn(context, endpoints, { tls });
  const seen = new Seen(store, PODS, await store.currentRevision());
  const revision = await committed(store, put(`${PODS}a`, "1"));
  await seen.untilRevision(revision);

  const byName = { tls: { ...tls, serverName: "etcd.example" } };
  await doesNotReject(storeOn(context, endpoints, byName), "the certificate has this name");
  const wrongName = { tls: { ...tls, serverName: "other.example" }, ...impatient };
  await rejects(openStore(endpoints, wrongName), { reason: "Unavailable", message: /other\.example/ });
});

test("an unknown CA, a missing client certificate and a broken one are reported differently", needs("etcd", "openssl"), async (context) => {
  const { endpoints, tls } = await etcd(context, { secure: true });
  ok(tls !== undefined);
  const directory = await mkdtemp(join(tmpdir(), "k8ts-ca-"));
  context.after(() => rm(directory, { recursive: true }));
  const { ca: otherCa, ...otherClient } = await makeCertificates(directory);

  await rejects(openStore(endpoints, { tls: { ...tls, ca: otherCa }, ...impatient }), {
    reason: "Unavailable",
    message: /its certificate is not from the given CA/,
  });
  await rejects(openStore(endpoints, { tls: { ca: tls.ca }, ...impatient }), {
    reason: "Unavailable",
    message: /it does not accept our client certificate/,
  });
  await rejects(openStore(endpoints, { tls: { ca: tls.ca, ...otherClient }, ...impatient }), {
    reason: "Unavailable",
    message: /does not accept our client certificate/,
  });
  const broken = { ...tls, key: new TextEncoder().encode("no key") };
  await rejects(openStore(endpoints, { tls: broken }), { reason: "Unusable", message: /Cannot use the certificates for etcd/ });
});
