/**
 * Allocated addresses and node ports of Services are exact while 64 clients write concurrently and servers are killed: none is allocated
 * twice, none is leaked, with one server on files and with two on a shared etcd. The ranges are so small that they are full at times.
 */
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { Disposables } from "../../src/base/disposables.ts";
import { seededRandom, type Random } from "../../src/base/random.ts";
import { makeTemporaryDirectory } from "../../src/host/files/private-files.ts";
import { ApiServerProcess, type Answer, type HttpsClient } from "../../src/testing/servers/api-server-process.ts";
import { startEtcd } from "../../src/testing/servers/etcd-server.ts";
import { needs } from "../../src/testing/needs.ts";
import { rounds, testSeed } from "../../src/testing/rounds.ts";
import { Churn, readNumbers, SERVICES, sharedInHistory } from "./service-churn.ts";

const CLIENTS = 64;
const STEPS = 8;
const RANGES = ["--service-cluster-ip-range=10.0.0.0/24,fd00::/122", "--service-node-port-range=30000-30063"];
/** Neither the network nor the broadcast address of IPv4 is allocated, nor the network address of IPv6. */
const CAPACITY = { ipv4: 254, ipv6: 63, ports: 64 };
const CRASHES = { quick: 2, full: 40 };
const FILLS = { quick: 1, full: 3 };

type Clients = readonly HttpsClient[];

/** Servers of one store, and the lookup of one that is up. */
interface Cluster {
  readonly connect: (client: number) => Promise<HttpsClient>;
  /** Kills a server and restarts it. */
  crash(): Promise<void>;
}

/** While the only server is down, clients wait. */
async function oneServer(owned: Disposables): Promise<Cluster> {
  const { path } = owned.use(await makeTemporaryDirectory("k8ts-numbers-"));
  const server = owned.use(new ApiServerProcess({ directory: path, flags: [`--data-dir=${join(path, "data")}`, ...RANGES] }));
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
  const { path } = owned.use(await makeTemporaryDirectory("k8ts-numbers-"));
  const etcd = owned.use(await startEtcd());
  const flags = [`--etcd-servers=${etcd.endpoints.join(",")}`, ...RANGES];
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

async function checkAllocations(t: TestContext, start: (owned: Disposables) => Promise<Cluster>): Promise<void> {
  await using owned = new Disposables();
  const cluster = await start(owned);
  using admin = new Reconnecting(cluster);
  const from = await readNumbers(await admin.connection());

  await quarrel(t, cluster, admin);
  equal((await admin.create({ type: "ExternalName", externalName: "example.org" }, "last")).code, 201);
  deepEqual(await sharedInHistory(await admin.connection(), from, "last"), []);

  const clients = await Promise.all(Array.from({ length: CLIENTS }, (_, client) => cluster.connect(client)));
  for (const client of clients) owned.use(client);
  for (let time = 0; time < rounds(FILLS); time++) {
    await fill(clients, admin);
    await deleteAll(clients, admin);
  }
}

async function quarrel(t: TestContext, cluster: Cluster, admin: Reconnecting): Promise<void> {
  const random = seededRandom(testSeed());
  const churn = new Churn({ clients: CLIENTS, steps: STEPS, random, connect: cluster.connect });
  for (let crash = 0; crash < rounds(CRASHES); crash++) {
    await crashInTheMiddle(cluster, churn, random);
    deepEqual((await readNumbers(await admin.connection(), churn.known)).problems, []);
  }
  for (const [answer, count] of churn.answers) t.diagnostic(`${count} × ${answer}`);
}

async function crashInTheMiddle(cluster: Cluster, churn: Churn, random: Random): Promise<void> {
  // About half of the steps are acknowledged; a quarter is guaranteed.
  const written = churn.acknowledged(1 + random.below((CLIENTS * STEPS) / 4));
  let crashed = false;
  const crash = written.then(() => cluster.crash()).then(() => (crashed = true));
  await churn.run();
  await crash;
  ok(crashed);
}

/** The administrator's connection, reopened on use: the server process may have changed. */
class Reconnecting implements Disposable {
  readonly #cluster: Cluster;
  #connection: HttpsClient | undefined;
  #made = 0;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  async connection(): Promise<HttpsClient> {
    this[Symbol.dispose]();
    this.#connection = await this.#cluster.connect(0);
    return this.#connection;
  }

  async create(spec: object, name = `one-more-${(this.#made += 1)}`): Promise<Answer> {
    return (await this.connection()).ask("POST", SERVICES, aService(name, spec));
  }

  [Symbol.dispose](): void {
    this.#connection?.[Symbol.dispose]();
  }
}

function aService(name: string, spec: object): object {
  return { apiVersion: "v1", kind: "Service", metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } };
}

async function fill(clients: Clients, admin: Reconnecting): Promise<void> {
  const { ports } = await readNumbers(await admin.connection());
  await createAll(clients, "port", CAPACITY.ports - ports, { type: "NodePort", ipFamilies: ["IPv4"] });
  await isFull(await admin.create({ type: "NodePort" }), /failed to allocate a nodePort: range is full$/);
  const { ipv4, ipv6 } = await readNumbers(await admin.connection());
  await createAll(clients, "four", CAPACITY.ipv4 - ipv4, { ipFamilies: ["IPv4"] });
  await createAll(clients, "six", CAPACITY.ipv6 - ipv6, { ipFamilies: ["IPv6"] });
  for (const family of ["IPv4", "IPv6"]) {
    await isFull(await admin.create({ ipFamilies: [family] }), /failed to allocate a serviceIP for Service "[\w-]+": range is full$/);
  }
  const full = await readNumbers(await admin.connection());
  deepEqual({ ipv4: full.ipv4, ipv6: full.ipv6, ports: full.ports, problems: full.problems }, { ...CAPACITY, problems: [] });
}

async function isFull({ code, body }: Answer, why: RegExp): Promise<void> {
  equal(code, 500);
  match((JSON.parse(body) as { readonly message: string }).message, why);
}

async function createAll(clients: Clients, prefix: string, count: number, spec: object): Promise<void> {
  const services = Array.from({ length: count }, (_, index) => aService(`${prefix}-${index}`, spec));
  await together(clients, services, (connection, service) => connection.ask("POST", SERVICES, service), 201);
}

async function deleteAll(clients: Clients, admin: Reconnecting): Promise<void> {
  const { names } = await readNumbers(await admin.connection());
  const paths = names.map((name) => `${SERVICES}/${name.slice("default/".length)}`);
  await together(clients, paths, (connection, path) => connection.ask("DELETE", path), 200);
  const left = await readNumbers(await admin.connection());
  deepEqual({ ...left, resourceVersion: "" }, { names: [], ipv4: 1, ipv6: 0, ports: 0, problems: [], resourceVersion: "" });
}

/** Distributes the items over all clients, which work concurrently; every response must have the code. */
async function together<Item>(
  clients: Clients,
  items: readonly Item[],
  ask: (connection: HttpsClient, item: Item) => Promise<Answer>,
  code: number,
): Promise<void> {
  const waiting = [...items];
  const work = async (connection: HttpsClient) => {
    for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) {
      const answer = await ask(connection, item);
      equal(answer.code, code, answer.body);
    }
  };
  await Promise.all(clients.map(work));
}

test(`allocations of Services are exact on files, also after SIGKILL (K8TS_SEED=${testSeed()})`, (t) => checkAllocations(t, oneServer));

test(`allocations of Services are exact on an etcd with two servers, one of them killed (K8TS_SEED=${testSeed()})`, needs("etcd"), (t) =>
  checkAllocations(t, twoServers),
);
