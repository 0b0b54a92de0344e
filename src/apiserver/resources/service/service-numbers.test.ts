import assert from "node:assert/strict";
import { test } from "node:test";
import { pick, seededRandom, type Random } from "../../../base/random.ts";
import type { JsonObject } from "../../../api/machinery/object.ts";
import { rounds, testSeed } from "../../../testing/rounds.ts";
import { startServer, type StartedServer } from "../../testing/server.ts";
import { pickFree } from "./number-range.ts";

const SERVICES = "/api/v1/namespaces/default/services";
const MERGE = { "content-type": "application/merge-patch+json" };

/** Few enough to run out: addresses .1 to .6, ports 30000 to 30004. */
const SMALL = { serviceClusterIpRange: "10.0.0.0/29", serviceNodePortRange: { first: 30_000, last: 30_004 } };

function service(name: string, spec: JsonObject = {}): JsonObject {
  return { metadata: { name }, spec: { ports: [{ port: 80 }], selector: { a: "b" }, ...spec } };
}

interface Held {
  readonly name: string;
  readonly addresses: readonly string[];
  readonly ports: readonly number[];
}

async function held(server: StartedServer): Promise<readonly Held[]> {
  const { body } = await server.call("GET", SERVICES);
  return body.items.map(
    ({ metadata, spec }: { metadata: { name: string }; spec: { clusterIPs?: string[]; ports: { nodePort?: number }[] } }) => ({
      name: metadata.name,
      addresses: (spec.clusterIPs ?? []).filter((address) => address !== "None"),
      ports: spec.ports.flatMap(({ nodePort }) => (nodePort === undefined ? [] : [nodePort])),
    }),
  );
}

function assertDistinct(all: readonly Held[]): void {
  for (const numbers of [all.flatMap(({ addresses }) => addresses), all.flatMap(({ ports }) => ports)]) {
    assert.equal(new Set<unknown>(numbers).size, numbers.length, JSON.stringify(all));
  }
}

async function step(server: StartedServer, random: Random): Promise<number> {
  const name = pick(random, ["a", "b", "c", "d", "e", "f", "g"]);
  const dry = random.below(5) === 0 ? "?dryRun=All" : "";
  const type = pick(random, ["ClusterIP", "NodePort", "NodePort"]);
  const nodePort = type === "NodePort" && random.below(3) === 0 ? { nodePort: 30_000 + random.below(6) } : {};
  const clusterIP = random.below(4) === 0 ? { clusterIP: pick(random, ["10.0.0.1", "10.0.0.4", "10.0.0.200", "None"]) } : {};
  const spec = { type, ports: [{ port: 80, ...nodePort }], ...clusterIP };
  switch (random.below(4)) {
    case 0:
      return (await server.call("DELETE", `${SERVICES}/${name}${dry}`)).code;
    case 1:
      return (await server.call("PATCH", `${SERVICES}/${name}${dry}`, { spec: { type, ports: [{ port: 80, ...nodePort }] } }, MERGE)).code;
    default:
      return (await server.call("POST", `${SERVICES}${dry}`, service(name, spec))).code;
  }
}

test("no two Services ever share an address or port, and every free one can be allocated", async () => {
  for (let round = 0; round < rounds({ quick: 10, full: 300 }); round++) {
    await using server = await startServer({ config: SMALL });
    const random = seededRandom(testSeed() * 1_000 + round);
    for (let turn = 0; turn < 15; turn++) {
      const codes = await Promise.all(Array.from({ length: 4 }, () => step(server, random)));
      for (const code of codes) assert([200, 201, 404, 409, 422, 500].includes(code), String(code));
      assertDistinct(await held(server));
    }
    // No leaks: when all are deleted, everything can be allocated again.
    for (const { name } of await held(server)) await server.call("DELETE", `${SERVICES}/${name}`);
    for (let index = 0; index < 5; index++) {
      const { code, text } = await server.call("POST", SERVICES, service(`n${index}`, { type: "NodePort" }));
      assert.equal(code, 201, text);
    }
    assert.deepEqual(
      (await held(server)).flatMap(({ ports }) => ports).toSorted((a, b) => a - b),
      [30_000, 30_001, 30_002, 30_003, 30_004],
    );
  }
});

test("an explicitly requested address or port is allocated if it is free and in range, and otherwise rejected with the reason", async () => {
  await using server = await startServer({ config: SMALL });
  const ask = (name: string, clusterIP: string) => server.call("POST", SERVICES, service(name, { clusterIP }));

  assert.equal((await ask("a", "10.0.0.5")).body.spec.clusterIP, "10.0.0.5");
  const taken = await ask("b", "10.0.0.5");
  const outside = await ask("c", "10.1.0.5");

  assert.deepEqual([taken.code, outside.code], [422, 422]);
  assert.match(taken.body.message, /10\.0\.0\.5: provided IP is already allocated/);
  assert.match(outside.body.message, /does not match the current range/);
  await server.call("DELETE", `${SERVICES}/a`);
  assert.equal((await ask("b", "10.0.0.5")).code, 201);
});

test("a rejected or dry-run Service write releases its allocations", async () => {
  await using server = await startServer({ config: SMALL });
  const tried = service("a", { type: "NodePort", clusterIP: "10.0.0.3", ports: [{ port: 80, nodePort: 30_002 }] });

  assert.equal((await server.call("POST", `${SERVICES}?dryRun=All`, tried)).code, 201);
  assert.equal((await server.call("POST", "/api/v1/namespaces/none/services", tried)).code, 404);
  const half = service("h", { type: "NodePort", clusterIP: "10.0.0.3", ports: [{ port: 80, nodePort: 40_000 }] });
  assert.equal((await server.call("POST", SERVICES, half)).code, 422);

  assert.equal((await server.call("POST", SERVICES, tried)).code, 201);
});

test("after a restart and after a broken Service watch the same addresses and ports are held", async () => {
  await using first = await startServer({ config: SMALL });
  await first.call("POST", SERVICES, service("a", { clusterIP: "10.0.0.3" }));
  await using second = await startServer({ config: SMALL, store: first.store, clock: first.clock });

  assert.equal((await second.call("POST", SERVICES, service("b", { clusterIP: "10.0.0.3" }))).code, 422);
  const { cache } = second.server.endpoints.find("", "v1", "services")!.storage;
  // A faulty listener breaks the watch; it is relisted.
  const saboteur = {
    scope: { namespace: "" },
    changed() {
      throw new Error("a mistake");
    },
    ended: () => cache.leave(saboteur),
  };
  cache.join(saboteur);
  await second.call("POST", SERVICES, service("c"));
  await second.clock.settle();
  assert.equal((await second.call("POST", SERVICES, service("d", { clusterIP: "10.0.0.3" }))).code, 422);
  await second.call("DELETE", `${SERVICES}/a`);
  assert.equal((await second.call("POST", SERVICES, service("d", { clusterIP: "10.0.0.3" }))).code, 201, "it is free again");
});

test("a number range allocates each number once, the lower ones last", () => {
  const range = { first: 10, last: 29, reserved: 4 };
  const random = seededRandom(testSeed());
  const given = new Set<number>();
  const next = () => pickFree(range, random, (number) => given.has(number));
  for (let number = next(); number !== undefined; number = next()) given.add(number);

  assert.deepEqual(
    [...given].toSorted((a, b) => a - b),
    Array.from({ length: 20 }, (_, index) => index + 10),
  );
  assert([...given].slice(-4).every((number) => number < 14));
  given.delete(17);
  assert.equal(next(), 17);
});
