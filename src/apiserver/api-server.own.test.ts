import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { KubeObject } from "../api/machinery/object.ts";
import type { Transport, TransportEvent } from "../api/machinery/transport.ts";
import type { Store } from "../store/store.ts";
import type { ApiServerOptions } from "./api-server.ts";
import { startEtcd } from "../testing/servers/etcd-server.ts";
import { realClock } from "../testing/machine.ts";
import { needs } from "../testing/needs.ts";
import { embeddedStore, etcdStore } from "../testing/fixtures/stores.ts";
import { startServer } from "./testing/server.ts";

const MAPS = { group: "", version: "v1", plural: "configmaps", namespace: "default" } as const;
const MERGE = { "content-type": "application/merge-patch+json" };
const PATH = "/api/v1/namespaces/default/configmaps";

function map(name: string, data: Readonly<Record<string, string>> = {}) {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data };
}

async function serverOn(context: TestContext, store: Store, config: ApiServerOptions["config"] = {}) {
  const server = await startServer({ store, clock: realClock, ...(config === undefined ? {} : { config }) });
  context.after(() => server[Symbol.asyncDispose]());
  return server;
}

async function twoOnOneEtcd(context: TestContext, config: ApiServerOptions["config"] = {}) {
  const etcd = await startEtcd();
  const [one, other] = [await etcdStore(etcd.endpoints), await etcdStore(etcd.endpoints)];
  const servers = [await serverOn(context, one, config), await serverOn(context, other, config)] as const;
  context.after(() => etcd[Symbol.asyncDispose]());
  return servers;
}

/** Collects the events of a watch and waits for a number of them. */
async function listen(transport: Transport, options: { resourceVersion?: string; labelSelector?: string } = {}) {
  const events: string[] = [];
  let wake = () => {};
  const event = (heard: TransportEvent) => {
    if (heard.type !== "ADDED" && heard.type !== "MODIFIED" && heard.type !== "DELETED") return;
    events.push(`${heard.type} ${heard.object.metadata.name}@${heard.object.metadata.resourceVersion}`);
    wake();
  };
  const watch = await transport.watch({ ...MAPS, options }, { event, ended: () => wake() });
  const until = async (count: number) => {
    while (events.length < count) await new Promise<void>((resolve) => (wake = resolve));
    return events;
  };
  return { events, until, watch };
}

/** Many concurrent writers, whose responses give the expected events. */
async function writeMuch(transports: readonly Transport[]): Promise<string[]> {
  const happened: { revision: number; line: string }[] = [];
  const note = (type: string, object: KubeObject) => {
    const revision = Number(object.metadata.resourceVersion);
    happened.push({ revision, line: `${type} ${object.metadata.name}@${revision}` });
  };
  const work = async (transport: Transport, writer: number) => {
    for (let index = 0; index < 10; index++) {
      const name = `w${writer}-${index}`;
      const created = await transport.request({ ...MAPS, verb: "create", object: map(name) });
      assert(created.is === "object");
      note("ADDED", created.object);
      const updated = await transport.request({ ...MAPS, verb: "update", name, object: map(name, { x: "y" }) });
      assert(updated.is === "object");
      note("MODIFIED", updated.object);
    }
  };
  await Promise.all(transports.flatMap((transport, index) => [work(transport, index * 2), work(transport, index * 2 + 1)]));
  return happened.toSorted((a, b) => a.revision - b.revision).map(({ line }) => line);
}

test("embedded: watches from the start, from a version in the middle and from the end deliver the acknowledged writes in order", async (context) => {
  const { store, close } = await embeddedStore();
  context.after(close);
  const server = await serverOn(context, store);
  const transport = server.transport();
  const early = await listen(transport, { resourceVersion: String(await store.currentRevision()) });

  const happened = await writeMuch([transport, transport]);

  assert.deepEqual(await early.until(happened.length), happened);
  const middle = happened[20]!;
  const late = await listen(transport, { resourceVersion: middle.split("@")[1]! });
  assert.deepEqual(await late.until(happened.length - 21), happened.slice(21));
});

test("embedded: a watch receives a write before it is acknowledged, and a get right after returns it", async (context) => {
  const { store, close } = await embeddedStore();
  context.after(close);
  const server = await serverOn(context, store);
  const transport = server.transport();
  const listening = await listen(transport);
  await transport.request({ ...MAPS, verb: "create", object: map("first") });
  await listening.until(1);

  for (let index = 0; index < 20; index++) {
    const written = await transport.request({ ...MAPS, verb: "create", object: map(`n${index}`) });
    assert(written.is === "object");
    assert.equal(listening.events.at(-1), `ADDED n${index}@${written.object.metadata.resourceVersion}`);
    const read = await transport.request({ ...MAPS, verb: "get", name: `n${index}` });
    assert(read.is === "object" && read.object === written.object);
  }
});

test("two API servers on one etcd: the watches of both deliver all writes, once and in the same order", needs("etcd"), async (context) => {
  const [one, other] = await twoOnOneEtcd(context);
  const start = { resourceVersion: String(await one.store.currentRevision()) };
  const listeners = [await listen(one.transport(), start), await listen(other.transport(), start)];

  const happened = await writeMuch([one.transport(), other.transport()]);

  for (const { until } of listeners) assert.deepEqual(await until(happened.length), happened);
});

test("two API servers on one etcd: a write acknowledged by one is visible to get and list on the other", needs("etcd"), async (context) => {
  const [one, other] = await twoOnOneEtcd(context);
  await other.call("GET", PATH);
  for (let index = 0; index < 20; index++) {
    const written = (await one.call("POST", PATH, map(`n${index}`))).body;
    const { resourceVersion } = written.metadata;

    const [got, list, atLeast] = await Promise.all([
      other.call("GET", `${PATH}/n${index}`),
      other.call("GET", PATH),
      other.call("GET", `${PATH}/n${index}?resourceVersion=${resourceVersion}`),
    ]);
    assert.deepEqual(got.body, written);
    assert.deepEqual(atLeast.body, written);
    assert.equal(list.body.items.length, index + 1);
    assert(Number(list.body.metadata.resourceVersion) >= Number(resourceVersion));
  }
});

test("two API servers on one etcd: a stale PUT gets a conflict, and patches through both are all kept", needs("etcd"), async (context) => {
  const [one, other] = await twoOnOneEtcd(context);
  const made = (await one.call("POST", PATH, map("a"))).body;
  assert.equal((await other.call("PUT", `${PATH}/a`, { ...made, data: { first: "1" } })).code, 200);
  assert.equal((await one.call("PUT", `${PATH}/a`, { ...made, data: { second: "2" } })).code, 409);

  const keys = Array.from({ length: 10 }, (_, index) => `k${index}`);
  const patches = keys.map((key, index) => (index % 2 === 0 ? one : other).call("PATCH", `${PATH}/a`, { data: { [key]: "v" } }, MERGE));
  assert.deepEqual(new Set((await Promise.all(patches)).map(({ code }) => code)), new Set([200]));

  assert.deepEqual(Object.keys((await one.call("GET", `${PATH}/a`)).body.data).toSorted(), ["first", ...keys].toSorted());
});

test(
  "one API server on etcd never allocates the same address to two Services, however fast they are created",
  needs("etcd"),
  async (context) => {
    const etcd = await startEtcd();
    const server = await serverOn(context, await etcdStore(etcd.endpoints), { serviceClusterIpRange: "10.0.0.0/27" });
    context.after(() => etcd[Symbol.asyncDispose]());

    const make = (index: number) =>
      server.call("POST", "/api/v1/namespaces/default/services", { metadata: { name: `s${index}` }, spec: { ports: [{ port: 80 }] } });
    const addresses: string[] = [];
    for (let round = 0; round < 6; round++) {
      const made = await Promise.all(Array.from({ length: 4 }, (_, index) => make(round * 4 + index)));
      for (const { code, body, text } of made) {
        assert.equal(code, 201, text);
        addresses.push(body.spec.clusterIP);
      }
    }

    assert.equal(new Set(addresses).size, addresses.length, addresses.join());
  },
);

test(
  "two API servers on one etcd never allocate the same address or port twice, concurrently or in sequence",
  needs("etcd"),
  async (context) => {
    const small = { serviceClusterIpRange: "10.96.0.0/25", serviceNodePortRange: { first: 30_000, last: 30_099 } };
    const servers = await twoOnOneEtcd(context, small);
    const create = async (server: (typeof servers)[number], name: string) => {
      const service = { metadata: { name }, spec: { type: "NodePort", ports: [{ port: 80 }] } };
      const { code, body, text } = await server.call("POST", "/api/v1/namespaces/default/services", service);
      assert.equal(code, 201, text);
      return [body.spec.clusterIP as string, body.spec.ports[0].nodePort as number] as const;
    };

    // A range so small that two uncoordinated allocators would often choose the same address.
    const atOnce = await Promise.all(Array.from({ length: 30 }, (_, index) => create(servers[(index % 2) as 0 | 1], `once-${index}`)));
    const inTurn: (readonly [string, number])[] = [];
    for (let index = 0; index < 30; index++) inTurn.push(await create(servers[(index % 2) as 0 | 1], `turn-${index}`));

    const all = [...atOnce, ...inTurn];
    assert.equal(new Set(all.map(([address]) => address)).size, all.length);
    assert.equal(new Set(all.map(([, port]) => port)).size, all.length);
  },
);
