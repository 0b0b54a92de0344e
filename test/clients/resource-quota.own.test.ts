/**
 * A quota is exact while 64 clients concurrently create and delete Pods and servers are killed: at no revision are there more Pods than it
 * allows, with one server on files and with two on a shared etcd; and unused charges are released.
 */
import { deepEqual, equal, ok } from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { Pod, ResourceQuota } from "../../src/api/generated/core/v1.ts";
import { Disposables } from "../../src/base/disposables.ts";
import { seededRandom, type Random } from "../../src/base/random.ts";
import { makeTemporaryDirectory } from "../../src/host/files/private-files.ts";
import { ApiServerProcess, type Answer, type HttpsClient } from "../../src/testing/servers/api-server-process.ts";
import { startEtcd } from "../../src/testing/servers/etcd-server.ts";
import { needs } from "../../src/testing/needs.ts";
import { rounds, testSeed } from "../../src/testing/rounds.ts";

const CLIENTS = 64;
const STEPS = 6;
const CRASHES = { quick: 1, full: 20 };
const ROOM = 20;
const NAMESPACE = "/api/v1/namespaces/full";
const PODS = `${NAMESPACE}/pods`;
const QUOTAS = `${NAMESPACE}/resourcequotas`;
const EXCEEDED = "exceeded quota";

/** Servers of one store, and the lookup of one that is up. */
interface Cluster {
  readonly connect: (client: number) => Promise<HttpsClient>;
  /** Kills a server and restarts it. */
  crash(): Promise<void>;
}

async function oneServer(owned: Disposables): Promise<Cluster> {
  const { path } = owned.use(await makeTemporaryDirectory("k8ts-quota-"));
  const server = owned.use(new ApiServerProcess({ directory: path, flags: [`--data-dir=${join(path, "data")}`] }));
  let up = server.start();
  await up;
  return {
    async connect() {
      await up;
      return server.client();
    },
    crash() {
      up = server.kill().then(() => server.start());
      return up;
    },
  };
}

/** Each serves half of the clients; those of a killed server use the other one meanwhile. */
async function twoServers(owned: Disposables): Promise<Cluster> {
  const { path } = owned.use(await makeTemporaryDirectory("k8ts-quota-"));
  const etcd = owned.use(await startEtcd());
  const flags = [`--etcd-servers=${etcd.endpoints.join(",")}`];
  const directories = ["one", "two"].map((name) => join(path, name));
  for (const directory of directories) await mkdir(directory);
  const servers = directories.map((directory) => owned.use(new ApiServerProcess({ directory, flags })));
  for (const server of servers) await server.start();
  const [victim, survivor] = servers as [ApiServerProcess, ApiServerProcess];
  let isUp = true;
  return {
    connect: async (client) => (isUp && client % 2 === 0 ? victim : survivor).client(),
    async crash() {
      isUp = false;
      await victim.kill();
      await victim.start();
      isUp = true;
    },
  };
}

/** Counts the writes of clients; one whose server is down connects to another without knowing the result of its last request. */
class Clients {
  readonly #cluster: Cluster;
  readonly #random: Random;
  readonly answers = new Map<string, number>();
  #acknowledged = 0;
  #reached: { readonly count: number; readonly resolve: () => void } | undefined;
  #names = 0;

  constructor(cluster: Cluster, random: Random) {
    this.#cluster = cluster;
    this.#random = random;
  }

  /** Resolves after `count` more acknowledged writes. */
  acknowledged(count: number): Promise<void> {
    return new Promise((resolve) => (this.#reached = { count: this.#acknowledged + count, resolve }));
  }

  /** Number of steps per client. */
  async run(steps: number, pickAction: (random: Random, own: readonly string[]) => "POST" | "DELETE"): Promise<void> {
    await Promise.all(Array.from({ length: CLIENTS }, (_, index) => this.#client(index, steps, pickAction)));
  }

  async #client(index: number, steps: number, pickAction: (random: Random, own: readonly string[]) => "POST" | "DELETE"): Promise<void> {
    const random = this.#random.derive(`client ${index} after ${this.#names}`);
    const own: string[] = [];
    let connection = await this.#cluster.connect(index);
    for (let step = 0; step < steps; step++) {
      const action = pickAction(random, own);
      const name = action === "DELETE" ? (own.pop() as string) : `p${(this.#names += 1)}`;
      try {
        const answer = await ask(connection, action, name);
        this.#note(action, answer);
        if (answer.code === 201) own.push(name);
      } catch (error) {
        if (error instanceof UnexpectedAnswer) throw error;
        connection[Symbol.dispose]();
        connection = await this.#cluster.connect(index);
      }
    }
    connection[Symbol.dispose]();
  }

  #note(action: string, { code, body }: Answer): void {
    const isFull = code === 403 && body.includes(EXCEEDED);
    const what = `${action} ${code}`;
    this.answers.set(what, (this.answers.get(what) ?? 0) + 1);
    if (code >= 300 && !isFull) throw new UnexpectedAnswer(`${action}: the server answered ${code}: ${body}`);
    this.#acknowledged += 1;
    if (this.#reached?.count === this.#acknowledged) this.#reached.resolve();
  }
}

class UnexpectedAnswer extends Error {}

function ask(connection: HttpsClient, action: "POST" | "DELETE", name: string): Promise<Answer> {
  if (action === "DELETE") return connection.ask("DELETE", `${PODS}/${name}?gracePeriodSeconds=0`);
  const spec = { containers: [{ name: "c", image: "i" }] };
  return connection.ask("POST", PODS, { apiVersion: "v1", kind: "Pod", metadata: { name }, spec });
}

async function checkQuota(t: TestContext, start: (owned: Disposables) => Promise<Cluster>, quotas: number): Promise<void> {
  await using owned = new Disposables();
  const cluster = await start(owned);
  const names = Array.from({ length: quotas }, (_, index) => `q${index}`);
  const from = await prepare(cluster, names);
  const clients = new Clients(cluster, seededRandom(testSeed()));

  for (let crash = 0; crash < rounds(CRASHES); crash++) {
    await crashInTheMiddle(cluster, clients);
    const { pods, used } = await read(cluster);
    const there = pods.filter(isCounted).length;
    ok(there <= ROOM, `there are ${there} Pods`);
    // Failed requests may still be charged; successful ones always are.
    for (const amount of used) ok(amount >= there, `there are ${there} Pods, and ${amount} are charged`);
  }
  await emptyAll(cluster);
  await clients.run(1, () => "POST");

  const full = await read(cluster);
  deepEqual([full.pods.length, full.used], [ROOM, names.map(() => ROOM)]);
  equal(await mostInHistory(cluster, from, full.pods), ROOM);
  for (const [answer, count] of clients.answers) t.diagnostic(`${count} × ${answer}`);
}

/** Returns the resource version from which the history is checked. */
async function prepare(cluster: Cluster, quotas: readonly string[]): Promise<string> {
  using admin = await cluster.connect(0);
  const objects: readonly (readonly [path: string, object: object])[] = [
    ["/api/v1/namespaces", { metadata: { name: "full" } }],
    [`${NAMESPACE}/serviceaccounts`, { metadata: { name: "default" } }],
    ...quotas.map((name) => [QUOTAS, { metadata: { name }, spec: { hard: { pods: String(ROOM) } } }] as const),
  ];
  for (const [path, object] of objects) {
    const { code, body } = await admin.ask("POST", path, object);
    ok(code === 201 || code === 409, body);
  }
  // On a shared store each server observes a new quota a little later, but not later than it can list it.
  using other = await cluster.connect(1);
  for (const server of [admin, other]) equal((await server.ask("GET", QUOTAS)).code, 200);
  return (JSON.parse((await admin.ask("GET", PODS)).body) as { metadata: { resourceVersion: string } }).metadata.resourceVersion;
}

async function crashInTheMiddle(cluster: Cluster, clients: Clients): Promise<void> {
  const written = clients.acknowledged((CLIENTS * STEPS) / 4);
  const crash = written.then(() => cluster.crash());
  await clients.run(STEPS, (random, own) => (own.length > 0 && random.below(2) === 0 ? "DELETE" : "POST"));
  await crash;
}

async function read(cluster: Cluster): Promise<{ readonly pods: readonly Pod[]; readonly used: readonly number[] }> {
  using admin = await cluster.connect(0);
  const items = async <T>(path: string) => (JSON.parse((await admin.ask("GET", path)).body) as { readonly items: readonly T[] }).items;
  const quotas = await items<ResourceQuota>(QUOTAS);
  return { pods: await items<Pod>(PODS), used: quotas.map(({ status }) => Number(status?.used?.["pods"] ?? -1)) };
}

async function emptyAll(cluster: Cluster): Promise<void> {
  const { pods } = await read(cluster);
  using admin = await cluster.connect(0);
  for (const { metadata } of pods) equal((await ask(admin, "DELETE", metadata.name)).code, 200);
}

/** A Pod deleted without grace does not count while it is terminating, as upstream. */
function isCounted({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp === undefined;
}

/** Maximum number of concurrent Pods, up to the creation of the last existing one. */
async function mostInHistory(cluster: Cluster, from: string, pods: readonly Pod[]): Promise<number> {
  using admin = await cluster.connect(1);
  const newest = Math.max(...pods.map(({ metadata }) => Number(metadata.resourceVersion)));
  const there = new Set<string>();
  let most = 0;
  for await (const line of admin.stream(`${PODS}?watch=true&resourceVersion=${from}`)) {
    const { type, object } = JSON.parse(line) as { readonly type: string; readonly object: Pod };
    if (type === "ERROR") throw new Error(`Cannot read the history of Pods: ${line}`);
    if (type === "DELETED" || !isCounted(object)) there.delete(object.metadata.name);
    else there.add(object.metadata.name);
    most = Math.max(most, there.size);
    if (Number(object.metadata.resourceVersion) >= newest) break;
  }
  return most;
}

for (const quotas of [1, 2]) {
  test(`a quota is exact on files, also after SIGKILL; quotas: ${quotas} (K8TS_SEED=${testSeed()})`, (t) =>
    checkQuota(t, oneServer, quotas));

  test(
    `a quota is exact on an etcd with two servers, one of them killed; quotas: ${quotas} (K8TS_SEED=${testSeed()})`,
    needs("etcd"),
    (t) => checkQuota(t, twoServers, quotas),
  );
}
