/**
 * Two controller managers on one API server, as processes: whatever happens to the leader, the other one takes over, and never do both act.
 * Who acted when is read from the server's own record of its writes (/debug/k8ts/causes), in which the two are distinguished by their
 * users; who was the leader then is read from the lease at the version of each write.
 */
import { deepEqual, equal, ok } from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { deployments } from "../../src/api/apps/v1/deployment.ts";
import { leases } from "../../src/api/coordination.k8s.io/v1/lease.ts";
import { pods } from "../../src/api/core/v1/pod.ts";
import type { Lease } from "../../src/api/generated/coordination.k8s.io/v1.ts";
import { CAUSES_MAX } from "../../src/apiserver/storage/recorded-causes.ts";
import { CAUSES_PATH } from "../../src/explain/explain-api.ts";
import { Disposables } from "../../src/base/disposables.ts";
import { seededRandom } from "../../src/base/random.ts";
import type { Client } from "../../src/client/client.ts";
import { startTestApiServer, type TestApiServer } from "../../src/testing/servers/api-server.ts";
import { startControllerManagerProcess, type ControllerManagerProcess } from "../../src/testing/servers/controller-manager-process.ts";
import { rounds, testSeed } from "../../src/testing/rounds.ts";
import { observeCluster, until } from "../../src/testing/servers/observed-cluster.ts";
import { startTcpProxy, type TcpProxy } from "../../src/testing/servers/tcp-proxy.ts";
import { aDeployment } from "../../src/testing/clients/manifests.ts";

const LEASE = { namespace: "kube-system", name: "kube-controller-manager" };
const WEB = { namespace: "default", name: "web" };

const times = (lease: string, deadline: string, retry: string): readonly string[] => [
  `--leader-elect-lease-duration=${lease}`,
  `--leader-elect-renew-deadline=${deadline}`,
  `--leader-elect-retry-period=${retry}`,
];
const LEASE_MS = 10_000;
/** Long enough that a busy machine alone does not make the leader lose its lease. */
const SHORT = times("10s", "8s", "500ms");
/** Long enough that a test fails if a process waits for its expiry. */
const LONG = times("600s", "300s", "2s");

/** By user instead of by service account, so that the record distinguishes the processes. */
const BY_USER = "--use-service-account-credentials=false";

/** A server without controllers, and clients that observe it. */
interface Stage extends AsyncDisposable {
  readonly server: TestApiServer;
  readonly client: Client;
  /** States of the lease so far, in order. */
  claims(): Promise<readonly Lease[]>;
  /** Identity in the election of the process with this name. */
  userOf(holder: string): string;
  /** Resolves when the Deployment has rolled out with this number of pods. */
  carriedOut(replicas: number): Promise<void>;
  /** Resolves at the `count`th change of a pod from now on. */
  podChanges(count: number): Promise<void>;
  /** Starts a controller manager of this user, which connects to the server at this port of 127.0.0.1. */
  start(user: string, flags: readonly string[], port?: number): Promise<ControllerManagerProcess>;
}

async function startStage(): Promise<Stage> {
  await using starting = new Disposables();
  const server = starting.use(await startTestApiServer({ controllers: [] }));
  const { client, informers } = starting.use(await observeCluster(server.kubeconfig));
  const users = new Map([["", ""]]);
  const claims: Lease[] = [];
  const keep = (lease: Lease): void => void claims.push(lease);
  const known = { leases: informers.of(leases, LEASE_SCOPE), deployments: informers.of(deployments), pods: informers.of(pods) };
  known.leases.listen({ added: keep, updated: keep, deleted: () => undefined });
  await Promise.all([known.leases.synced(), known.deployments.synced(), known.pods.synced()]);
  const running = starting.move();
  return {
    server,
    client,
    async claims() {
      const { resourceVersion } = (await client.get(leases, LEASE)).metadata;
      await until(known.leases, () => claims.some(({ metadata }) => versionOf(metadata) >= versionOf({ resourceVersion })));
      return claims;
    },
    userOf: (holder) => users.get(holder) ?? `unknown holder ${holder}`,
    async carriedOut(replicas) {
      const settled = until(known.deployments, () => {
        const { metadata, spec, status = {} } = known.deployments.get(WEB) ?? { metadata: { generation: -1 } };
        return spec?.replicas === replicas && status.observedGeneration === metadata.generation && (status.replicas ?? 0) === replicas;
      });
      const counted = until(known.pods, () => known.pods.list(WEB.namespace).length === replicas);
      await Promise.all([settled, counted]);
    },
    podChanges(count) {
      let left = count;
      return until(known.pods, () => left-- <= 0);
    },
    async start(user, flags, port = portOf(server)) {
      const started = await startControllerManagerProcess({ kubeconfig: await kubeconfigAs(server, user, port), flags });
      const [, holder = ""] = /, leader election with \S+ as (\S+)/.exec(started.program.output.join("\n")) ?? [];
      users.set(holder, user);
      return started;
    },
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  };
}

const LEASE_SCOPE = { namespace: LEASE.namespace, fieldSelector: `metadata.name=${LEASE.name}` };

function portOf({ url }: TestApiServer): number {
  return Number(new URL(url).port);
}

interface Kubeconfig {
  readonly clusters: readonly { readonly cluster: object }[];
  readonly users: readonly { readonly user: object }[];
}

/** Creates a user `user` with all permissions. */
async function kubeconfigAs(server: TestApiServer, user: string, port: number): Promise<string> {
  const config = JSON.parse(await readFile(server.kubeconfig, "utf8")) as Kubeconfig;
  const clusters = config.clusters.map((each) => ({ ...each, cluster: { ...each.cluster, server: `https://127.0.0.1:${port}` } }));
  const users = config.users.map((each) => ({ ...each, user: { ...each.user, as: user, "as-groups": ["system:masters"] } }));
  const path = join(server.directory, `${user}.kubeconfig`);
  await writeFile(path, JSON.stringify({ ...config, clusters, users }), { mode: 0o600 });
  return path;
}

interface Write {
  readonly user: string;
  readonly verb: string;
  readonly resource: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly resourceVersion?: string;
}

/** Asserts that every write of a controller manager was made while it held the lease. Returns the holders in order. */
async function checkRecord(stage: Stage, users: readonly string[]): Promise<readonly string[]> {
  const items = await written(stage);
  const claims = await stage.claims();
  for (const write of items.filter(({ user }) => users.includes(user))) {
    ok(write.resourceVersion !== undefined, `The time of ${JSON.stringify(write)} is unknown`);
    const holder = claims.findLast(({ metadata }) => versionOf(metadata) < versionOf(write))?.spec?.holderIdentity ?? "";
    equal(write.user, stage.userOf(holder), `${JSON.stringify(write)} was written while the lease was held by "${stage.userOf(holder)}"`);
  }
  const holders = claims.map(({ spec }) => stage.userOf(spec?.holderIdentity ?? "")).filter((user) => user !== "");
  return holders.filter((user, index) => user !== holders[index - 1]);
}

async function written({ server }: Stage): Promise<readonly Write[]> {
  const { items } = JSON.parse((await server.ask("GET", `${CAUSES_PATH}?outcome=committed`)).body) as { readonly items: readonly Write[] };
  ok(items.length < CAUSES_MAX, "the record has dropped the first writes");
  return items;
}

function versionOf({ resourceVersion = "0" }: { readonly resourceVersion?: string | undefined }): bigint {
  return BigInt(resourceVersion);
}

/** Time without a leader at each change of the holder, by the lease's own timestamps: from the last renewal to the new holder's first. */
function gapsMs(claims: readonly Lease[]): readonly number[] {
  return claims.flatMap(({ spec }, index) => {
    const before = claims[index - 1]?.spec;
    if (before === undefined || spec?.holderIdentity === before.holderIdentity || spec?.holderIdentity === "") return [];
    return [Date.parse(spec?.acquireTime ?? "") - Date.parse(before.renewTime ?? "")];
  });
}

/** Resolves when a new Deployment has this number of pods. */
async function deploy({ server, carriedOut }: Stage, replicas: number): Promise<void> {
  const { code, body } = await server.ask("POST", "/apis/apps/v1/namespaces/default/deployments", aDeployment(WEB.name, { replicas }));
  equal(code, 201, body);
  await carriedOut(replicas);
}

function scale({ client }: Stage, replicas: number): Promise<unknown> {
  return client.patch(deployments, WEB, { type: "merge", value: { spec: { replicas } } });
}

const ROUNDS = rounds({ quick: 3, full: 20 });

test(`a leader is killed with SIGKILL ${ROUNDS} times while it works, and each time the other controller manager finishes the work`, async (t: TestContext) => {
  await using stage = await startStage();
  await using processes = new Disposables();
  const start = async (user: string) => processes.use(await stage.start(user, [...SHORT, BY_USER]));
  const random = seededRandom(testSeed());
  let leader = { user: "manager-a", process: await start("manager-a") };
  await leader.process.becomesLeader();
  let other = { user: "manager-b", process: await start("manager-b") };
  await deploy(stage, 1);
  const expected = [leader.user];

  for (let round = 1; round <= ROUNDS; round++) {
    const replicas = round % 2 === 1 ? 12 + random.below(8) : 1 + random.below(4);
    const amidst = stage.podChanges(random.below(6));
    await scale(stage, replicas);
    await amidst;
    await leader.process[Symbol.asyncDispose]();
    await other.process.becomesLeader();
    await stage.carriedOut(replicas);
    const again = { user: leader.user, process: await start(leader.user) };
    [leader, other] = [other, again];
    expected.push(leader.user);
  }

  deepEqual(await checkRecord(stage, ["manager-a", "manager-b"]), expected);
  const gaps = gapsMs(await stage.claims());
  equal(gaps.length, ROUNDS);
  t.diagnostic(
    `from the last renewal to the takeover, by a standby that had just started, with a lease of ${LEASE_MS} ms: ${gaps.join(", ")} ms`,
  );
  ok(
    gaps.every((gap) => gap >= LEASE_MS),
    "no lease is taken before it expires",
  );
});

test("a controller manager frozen for longer than its lease writes nothing when it wakes up", async () => {
  await using stage = await startStage();
  await using proxy = await startTcpProxy(portOf(stage.server));
  await using a = await stage.start("manager-a", [...SHORT, BY_USER], proxy.port);
  await a.becomesLeader();
  await using b = await stage.start("manager-b", [...SHORT, BY_USER]);
  await deploy(stage, 1);

  // It is frozen while it waits for responses, which would let it continue. No request of its own is in flight.
  await freezeAmidstWork(stage, a, { proxy, holds: "answers" });
  await b.becomesLeader();
  await stage.carriedOut(100);
  await scale(stage, 2);
  proxy.release();
  a.program.signal("SIGCONT");
  await a.losesLeadership();
  await stage.carriedOut(2);
  await scale(stage, 3);
  await stage.carriedOut(3);

  deepEqual(await checkRecord(stage, ["manager-a", "manager-b"]), ["manager-a", "manager-b"]);
});

test("a request that a former leader sent in time but that arrives after a change of leader is rejected without a write", async (t) => {
  await using stage = await startStage();
  await using proxy = await startTcpProxy(portOf(stage.server));
  await using a = await stage.start("manager-a", [...SHORT, BY_USER], proxy.port);
  await a.becomesLeader();
  await using b = await stage.start("manager-b", [...SHORT, BY_USER]);
  await deploy(stage, 1);

  // Its requests stay in flight, and it is frozen before it can cancel them.
  await freezeAmidstWork(stage, a, { proxy, holds: "requests" });
  await b.becomesLeader();
  await stage.carriedOut(100);
  const before = await written(stage);
  equal(await refusedPods(stage), 0);
  proxy.release();
  a.program.signal("SIGCONT");
  await a.losesLeadership();
  await scale(stage, 2);
  await stage.carriedOut(2);

  const refused = await refusedPods(stage);
  t.diagnostic(`${refused} new pods were in flight and rejected`);
  ok(refused > 0, "none was in flight");
  const since = (await written(stage)).slice(before.length);
  deepEqual(new Set(since.map(({ user }) => user).filter((user) => user !== "kubernetes-admin")), new Set(["manager-b"]));
  deepEqual(await checkRecord(stage, ["manager-a", "manager-b"]), ["manager-a", "manager-b"]);
});

interface HeldWire {
  readonly proxy: TcpProxy;
  readonly holds: "requests" | "answers";
}

/**
 * While it creates a hundred pods, some of its requests are held back. By the time it has served its metrics a few times, all requests
 * begun are sent.
 */
async function freezeAmidstWork(stage: Stage, manager: ControllerManagerProcess, { proxy, holds }: HeldWire): Promise<void> {
  const amidst = stage.podChanges(3);
  await scale(stage, 100);
  await amidst;
  const isHeld = proxy.heldBack();
  proxy.hold(holds);
  await isHeld;
  for (let turn = 0; turn < 5; turn++) await manager.metrics();
  manager.program.signal("SIGSTOP");
}

/** Number of requests that the server rejected with "Conflict". */
async function refusedPods({ server }: Stage): Promise<number> {
  const { body } = await server.ask("GET", "/metrics");
  const line = body.split("\n").find((each) => /^apiserver_request_total\{.*code="409".*resource="pods".*verb="POST"/.test(each));
  return Number(line?.split(" ").at(-1) ?? 0);
}

test("a controller manager that receives SIGTERM releases the lease, and the other one takes over at once", async (t) => {
  await using stage = await startStage();
  await using a = await stage.start("manager-a", LONG);
  await a.becomesLeader();
  await using b = await stage.start("manager-b", LONG);
  await deploy(stage, 2);

  await scale(stage, 4);
  a.program.signal("SIGTERM");
  await b.becomesLeader();
  await stage.carriedOut(4);

  deepEqual(await a.program.exited, { code: 0, signal: null });
  const [gap] = gapsMs(await stage.claims());
  t.diagnostic(`from the release to the takeover: ${gap} ms`);
  b.program.signal("SIGTERM");
  deepEqual(await b.program.exited, { code: 0, signal: null });
  equal((await stage.client.get(leases, LEASE)).spec?.holderIdentity, "");
});
