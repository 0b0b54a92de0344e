import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { test } from "node:test";
import { configMaps } from "../api/core/v1/config-map.ts";
import type { ConfigMap } from "../api/generated/core/v1.ts";
import { isReason } from "../api/machinery/status-error.ts";
import type { TransportEvent } from "../api/machinery/transport.ts";
import { seededRandom } from "../base/random.ts";
import type { Client } from "../client/client.ts";
import { createClient } from "../client/rest-client.ts";
import { given, type Given } from "./given.ts";
import { MortalTransport, type Disturbance } from "./mortal-transport.ts";

const lost = (error: unknown): boolean => isReason(error, "ServiceUnavailable");

function map(name: string) {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "default", name } } as const;
}

function mortal({ clock, server }: Given, disturbance: Disturbance, dieAfter?: number): { mortal: MortalTransport; client: Client } {
  const transport = new MortalTransport({ clock, random: seededRandom(disturbance.seed ?? 1), disturbance: () => disturbance, dieAfter });
  return { mortal: transport, client: createClient(transport.around(server.transport(), { counts: true })) };
}

/** Events of a watch of the ConfigMaps in "default", one word each. */
async function listen(client: Client): Promise<string[]> {
  const received: string[] = [];
  const { metadata } = await client.list(configMaps, { namespace: "default" });
  await client.watch(
    configMaps,
    { namespace: "default", resourceVersion: metadata.resourceVersion ?? "" },
    {
      event: (event) => void received.push("object" in event ? event.object.metadata.name : event.type),
      ended: () => void received.push("ended"),
    },
  );
  return received;
}

test("a MortalTransport without disturbance is transparent and counts calls", async () => {
  await using cluster = await given();
  const { mortal: transport, client } = mortal(cluster, {});
  const received = await listen(client);
  await client.create(configMaps, map("a"));
  deepEqual([received, transport.calls], [["a"], 2]);
  const uncounted = createClient(transport.around(cluster.server.transport(), { counts: false }));
  await uncounted.get(configMaps, { namespace: "default", name: "a" });
  equal(transport.calls, 2);
});

test("a MortalTransport sends and receives nothing after its last call, which the server still executes", async () => {
  await using cluster = await given();
  const { mortal: transport, client } = mortal(cluster, {}, 3);
  const received = await listen(client);
  await client.create(configMaps, map("a"));

  const [last, late] = await Promise.allSettled([client.create(configMaps, map("b")), client.create(configMaps, map("c"))]);

  deepEqual([last.status, late.status, transport.isDead], ["rejected", "rejected", true]);
  deepEqual(
    (await cluster.list(configMaps, "default")).map(({ metadata }) => metadata.name),
    ["a", "b"],
  );
  await rejects(client.get(configMaps, { namespace: "default", name: "a" }), lost);
  await rejects(client.document("/version"), lost);
  await rejects(listen(client), lost);
  await cluster.client.create(configMaps, map("d"));
  await cluster.settled();
  deepEqual(received, ["a", "ended"]);
});

test("a MortalTransport fails some requests, half of them after the server executed them, deterministically per seed", async () => {
  const run = async (seed: number): Promise<readonly [string, number]> => {
    await using cluster = await given();
    const { client } = mortal(cluster, { seed, failures: 0.5 });
    const outcomes = await Promise.allSettled(Array.from({ length: 40 }, (_, index) => client.create(configMaps, map(`m${index}`))));
    return [outcomes.map(({ status }) => status[0]).join(""), (await cluster.list(configMaps, "default")).length];
  };
  const [outcomes, made] = await run(3);
  const succeeded = outcomes.replaceAll("r", "").length;

  ok(succeeded > 5 && succeeded < 35 && made > succeeded && made < 40, `${outcomes} ${made}`);
  deepEqual(await run(3), [outcomes, made]);
  ok((await run(4))[0] !== outcomes);
});

test("a MortalTransport delivers events late, in order, some of them twice, and loses none", async () => {
  await using cluster = await given();
  const { client } = mortal(cluster, { delayMsMax: 1_000, repeats: 0.5 });
  const received = await listen(client);
  const names = Array.from("abcdefgh");
  for (const name of names) await cluster.client.create(configMaps, map(name));
  ok(received.length < names.length);

  await cluster.clock.advance(60_000);

  deepEqual(
    received.filter((name, index) => name !== received[index - 1]),
    names,
  );
  ok(received.length > names.length, received.join(" "));
});

test("a MortalTransport can cut a stream after any event, and reports its end", async () => {
  await using cluster = await given();
  const { client } = mortal(cluster, { cuts: 1 });
  const received = await listen(client);
  await cluster.client.create(configMaps, map("a"));
  await cluster.client.create(configMaps, map("b"));
  await cluster.settled();

  deepEqual(received, ["a", "ended"]);
});

test("a MortalTransport repeats an older state of an object after a newer one, never before", async () => {
  await using cluster = await given(map("a"));
  const { client } = mortal(cluster, { replays: 0.5 });
  const values: number[] = [];
  const event = (heard: TransportEvent) => "object" in heard && values.push(Number((heard.object as ConfigMap).data?.["value"]));
  await client.watch(configMaps, { namespace: "default", resourceVersion: "1" }, { event: (heard) => void event(heard), ended() {} });
  await cluster.settled();
  values.length = 0;
  const received = Array.from({ length: 20 }, (_, index) => index);
  for (const value of received) {
    const patch = { type: "merge", value: { data: { value: `${value}` } } } as const;
    await cluster.client.patch(configMaps, { namespace: "default", name: "a" }, patch);
  }
  await cluster.settled();

  let newest = -1;
  const news = values.filter((value) => value > newest && (newest = value) === value);
  deepEqual(news, received);
  ok(values.length > received.length, values.join(" "));
});

test("a MortalTransport can start a watch from a stale list, and delivers the events since then", async () => {
  await using cluster = await given();
  const names = Array.from({ length: 50 }, (_, index) => `m${index + 10}`);
  for (const name of names) await cluster.client.create(configMaps, map(name));
  const starts = await Promise.all(
    Array.from({ length: 10 }, async (_, index) => {
      const { client } = mortal(cluster, { seed: index + 1, staleStarts: 1 });
      const received: string[] = [];
      const event = (heard: TransportEvent) => void received.push("object" in heard ? heard.object.metadata.name : "end");
      const options = { sendInitialEvents: true, allowWatchBookmarks: true, resourceVersionMatch: "NotOlderThan" } as const;
      await client.watch(configMaps, { namespace: "default", ...options }, { event, ended() {} });
      return received;
    }),
  );
  await cluster.clock.advance(1_000);

  for (const received of starts) {
    deepEqual(
      received.filter((word) => names.includes(word)),
      names,
    );
  }
  const known = starts.map((received) => received.indexOf("end"));
  ok(new Set(known).size > 5, `Initial lists: ${known.join(" ")}`);
});
