/**
 * A highly available cluster: a real etcd of three members, two API servers on it, and a load balancer that routes to one that is up.
 * Members and servers are killed during writes, watches and rollouts. Acknowledged writes exist at the end, watches have reported them, and
 * the longest time without a response is bounded.
 */
import { deepEqual, equal, ok } from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { get } from "node:https";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { deployments } from "../../src/api/apps/v1/deployment.ts";
import { leases } from "../../src/api/coordination.k8s.io/v1/lease.ts";
import { configMaps } from "../../src/api/core/v1/config-map.ts";
import { namespaces } from "../../src/api/core/v1/namespace.ts";
import { nodes } from "../../src/api/core/v1/node.ts";
import { pods } from "../../src/api/core/v1/pod.ts";
import { endpointSlices } from "../../src/api/discovery.k8s.io/v1/endpoint-slice.ts";
import type { Deployment } from "../../src/api/generated/apps/v1.ts";
import type { ConfigMap, Node } from "../../src/api/generated/core/v1.ts";
import { Disposables } from "../../src/base/disposables.ts";
import { runProgram } from "../../src/host/processes/child-process.ts";
import { realClock } from "../../src/host/real-clock.ts";
import type { Client, ObjectKey } from "../../src/client/client.ts";
import type { Informer } from "../../src/client/informer/informer.ts";
import { aNode } from "../../src/scheduler/framework/testing/builders.ts";
import { aDeployment } from "../../src/testing/clients/manifests.ts";
import { startControllerManagerProcess } from "../../src/testing/servers/controller-manager-process.ts";
import { startEtcd, type EtcdServer } from "../../src/testing/servers/etcd-server.ts";
import { freePort } from "../../src/testing/servers/free-ports.ts";
import { K8tsMachine } from "../../src/testing/servers/k8ts-program.ts";
import type { LeaderElectedProcess } from "../../src/testing/servers/leader-elected-process.ts";
import { startLoadBalancer, type Target } from "../../src/testing/servers/load-balancer.ts";
import { needs, toolPath } from "../../src/testing/needs.ts";
import { startSchedulerProcess } from "../../src/testing/servers/scheduler-process.ts";
import { observeCluster, until } from "../../src/testing/servers/observed-cluster.ts";
import { etcdStore } from "../../src/testing/fixtures/stores.ts";

/** The members elect a leader within 1 to 2 s. An update lost with the old one is retried after 3 s, a creation is given up after 7 s. */
const ETCD_GAP_MAX_MS = 30_000;
/** A disconnected client reconnects and is routed to the other server at once, which takes some seconds on a busy machine. */
const SERVER_GAP_MAX_MS = 20_000;

const LOAD = "load";
const WRITERS = 4;
/** Updates per object, before the next one is created. */
const CHANGES = 5;
/** About a hundred writes per second by all writers: a load that leaves the machine time for the rest of the test. */
const PAUSE_MS = 30;
/** Writes after a failure, to check that they continue. */
const FURTHER_WRITES = 25;

const REPLICAS = 8;
/** So that a rollout, one Pod after the other, takes some seconds. */
const READY_AFTER = { "simulated.k8ts.dev/ready-after": "500ms" };

interface Acknowledged {
  readonly name: string;
  /** Number of updates of the object. */
  readonly change: number;
  readonly revision: string;
  readonly atMs: number;
  /** Index of the client. */
  readonly way: number;
}

/** Writers that record what was acknowledged. */
class Load implements AsyncDisposable {
  readonly acknowledged: Acknowledged[] = [];
  failures = 0;
  readonly #clients: readonly Client[];
  readonly #stopped = new AbortController();
  readonly #writers: readonly Promise<void>[];

  /** Clients that they use in turn. */
  constructor(clients: readonly Client[]) {
    this.#clients = clients.map((client) => client.with({ signal: this.#stopped.signal }));
    this.#writers = Array.from({ length: WRITERS }, (_, writer) => this.#write(writer));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped.abort();
    await Promise.all(this.#writers);
  }

  /** The longest time without an acknowledgement since `sinceMs`, of the client that was affected most. */
  longestGapMs(fromMs: number): number {
    const nowMs = realClock.monotonic();
    const gaps = this.#clients.flatMap((_, way) => {
      const acknowledged = this.acknowledged.filter((each) => each.way === way && each.atMs >= fromMs).map(({ atMs }) => atMs);
      return [...acknowledged, nowMs].map((atMs, index) => atMs - (acknowledged[index - 1] ?? fromMs));
    });
    return Math.round(Math.max(...gaps));
  }

  /** Through every client. */
  async continues(): Promise<void> {
    const counts = () => this.#clients.map((_, way) => this.acknowledged.filter((each) => each.way === way).length);
    const before = counts();
    const isBehind = () => counts().some((count, way) => count < (before[way] ?? 0) + FURTHER_WRITES);
    while (isBehind()) await realClock.sleep(PAUSE_MS, this.#stopped.signal);
  }

  async #write(writer: number): Promise<void> {
    const { signal } = this.#stopped;
    const way = writer % this.#clients.length;
    const client = this.#clients[way] as Client;
    for (let object = 0; !signal.aborted; object++) {
      const key = { namespace: LOAD, name: `w${writer}-${object}` };
      for (let change = 0; change < CHANGES && !signal.aborted; change++) {
        const written = await writeOnce(client, key, change).catch(() => undefined);
        if (written === undefined) {
          // The result is unknown, so nothing is expected of it; the next object is another.
          this.failures++;
          break;
        }
        this.acknowledged.push({ name: key.name, change, revision: revisionOf(written), atMs: realClock.monotonic(), way });
        await realClock.sleep(PAUSE_MS);
      }
    }
  }
}

function writeOnce(client: Client, key: ObjectKey & { readonly namespace: string }, change: number): Promise<ConfigMap> {
  const data = { change: String(change) };
  if (change === 0) return client.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata: key, data });
  return client.patch(configMaps, key, { type: "merge", value: { data } });
}

function revisionOf({ metadata }: ConfigMap): string {
  return metadata.resourceVersion ?? "";
}

/** Every state of every object that a watch has reported. */
function statesSeen(informer: Informer<ConfigMap>): ReadonlySet<string> {
  const seen = new Set<string>();
  const keep = (object: ConfigMap): void => void seen.add(revisionOf(object));
  informer.listen({ added: keep, updated: keep, deleted: () => undefined });
  return seen;
}

type Kubectl = (line: string) => Promise<string>;

function kubectlWith(kubeconfig: string, home: string): Kubectl {
  const environment = { HOME: home, KUBECONFIG: kubeconfig };
  return async (line) => (await runProgram({ command: toolPath("kubectl"), arguments: line.split(" "), environment })).join("\n");
}

function targetOf(server: string): Target {
  const { hostname: host, port } = new URL(server);
  return { host, port: Number(port) };
}

/** A kubeconfig for clients that use another address. */
async function withServer(kubeconfig: string, server: string): Promise<string> {
  const path = `${kubeconfig}-${new URL(server).port}`;
  await writeFile(path, (await readFile(kubeconfig, "utf8")).replace(/https:\/\/127\.0\.0\.\d+:\d+/, server), { mode: 0o600 });
  return path;
}

/** A machine that outlives everything else of the test. */
async function machineOf(owned: Disposables): Promise<K8tsMachine> {
  return K8tsMachine.make({ after: (end) => owned.defer(end) });
}

/** The cluster: etcd, two `k8ts up` on it, and load balancers in front of them. */
interface Site {
  readonly etcd: EtcdServer;
  readonly machine: K8tsMachine;
  readonly second: ChildProcess;
  /** Restarts it at the same address, with nodes of its own. */
  restartSecond(): Promise<void>;
  /** The load balancer that prefers the second server, and the one that prefers the first. */
  readonly kubeconfig: string;
  readonly otherKubeconfig: string;
  /** Through the load balancer that prefers the second server. */
  readonly kubectl: Kubectl;
}

/** The second starts first, so its controllers and scheduler are the leaders. The first has the nodes, which must outlive the second. */
async function startSite(owned: Disposables): Promise<Site> {
  const etcd = owned.use(await startEtcd({ members: 3 }));
  const machine = await machineOf(owned);
  const shared = [
    "--etcd-servers",
    etcd.endpoints.join(","),
    "--cert-dir",
    join(machine.root, "pki"),
    "--node-name",
    "m",
    "--containers=false",
  ];
  const up = (name: string, address: string, words: readonly string[]) =>
    machine.start(["up", "--name", name, ...shared, "--advertise-address", address, ...words]);
  const { child: second } = await up("second", "192.0.2.2", ["--listen", `127.0.0.2:${await freePort()}`]);
  const at = targetOf((await machine.record("second")).server);
  // One port on two addresses, as on two machines.
  await up("first", "192.0.2.1", ["--listen", `127.0.0.1:${at.port}`, "--simulated-nodes", "2"]);
  const first = { ...at, host: "127.0.0.1" };
  const balanced = async (targets: readonly Target[]): Promise<string> => {
    const { port } = owned.use(await startLoadBalancer(targets));
    return withServer(join(machine.home("first"), "kubeconfig"), `https://127.0.0.1:${port}`);
  };
  const [kubeconfig, otherKubeconfig] = [await balanced([at, first]), await balanced([first, at])];
  return {
    ...{ etcd, machine, second, kubeconfig, otherKubeconfig, kubectl: kubectlWith(kubeconfig, machine.root) },
    restartSecond: async () => void (await up("second", "192.0.2.2", ["--listen", `${at.host}:${at.port}`, "--simulated-nodes", "2"])),
  };
}

/** What a watch through the load balancer of the second server reports. */
async function watchSite({ kubeconfig }: Site, owned: Disposables) {
  const { client, informers } = owned.use(await observeCluster(kubeconfig));
  await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: LOAD } });
  const seen = {
    configMaps: informers.of(configMaps, { namespace: LOAD }),
    leases: informers.of(leases, { namespace: "kube-system" }),
    slices: informers.of(endpointSlices, { namespace: "default" }),
    nodes: informers.of(nodes),
  };
  const states = statesSeen(seen.configMaps);
  await Promise.all(Object.values(seen).map((informer) => informer.synced()));
  const holder = (name: string) => seen.leases.get({ namespace: "kube-system", name })?.spec?.holderIdentity ?? "";
  return {
    ...{ ...seen, client, states },
    /** The leaders of the controllers and of the scheduler. */
    holders: () => ["kube-controller-manager", "kube-scheduler"].map(holder),
    /** The endpoints of the Service "kubernetes". */
    servers: () =>
      (seen.slices.get({ namespace: "default", name: "kubernetes" })?.endpoints ?? []).flatMap(({ addresses }) => addresses).toSorted(),
  };
}

type Watcher = Awaited<ReturnType<typeof watchSite>>;

async function deploy({ client }: Watcher, kubectl: Kubectl): Promise<void> {
  const rollingUpdate = { maxSurge: 1, maxUnavailable: 0 };
  const web = aDeployment("web", { replicas: REPLICAS, strategy: { rollingUpdate } }) as Deployment;
  const { template } = web.spec ?? {};
  await client.create(deployments, {
    ...web,
    metadata: { ...web.metadata, namespace: "default" },
    spec: { ...web.spec, template: { ...template, metadata: { ...template?.metadata, annotations: READY_AFTER } } },
  } as Deployment);
  await kubectl(ROLLED_OUT);
}

const ROLLED_OUT = "rollout status deployment/web --timeout=120s";

/** Resolves when it has begun. */
async function rollOut(kubectl: Kubectl, image: string): Promise<{ readonly done: Promise<string> }> {
  await kubectl(`set image deployment/web web=example/web:${image}`);
  const done = kubectl(ROLLED_OUT);
  done.catch(() => undefined);
  return { done };
}

interface Death {
  readonly of: string;
  kill(): Promise<void>;
  readonly gapMaxMs: number;
}

/** Kills a process in the middle of a rollout; what kubectl changes meanwhile takes effect, and writes continue. */
async function survive(context: TestContext, { kubectl }: Site, load: Load, { of, kill, gapMaxMs }: Death): Promise<void> {
  const rollout = await rollOut(kubectl, of);
  const atMs = realClock.monotonic();
  const sinceMs = () => Math.round(realClock.monotonic() - atMs);
  await kill();
  await kubectl(`label namespace ${LOAD} killed=${of} --overwrite`);
  const answeredMs = sinceMs();
  await load.continues();
  const gapMs = load.longestGapMs(atMs);
  await rollout.done;
  context.diagnostic(`${of} killed: longest gap in writes ${gapMs} ms, kubectl took ${answeredMs} ms, the rollout took ${sinceMs()} ms`);
  ok(gapMs < gapMaxMs, `writes continue: the longest gap was ${gapMs} ms`);
  ok(answeredMs < gapMaxMs, `kubectl continues: it took ${answeredMs} ms`);
}

/** Polls until a member is the leader: after a start the members need an election. */
async function leaderOf(etcd: EtcdServer): Promise<number> {
  for (;;) {
    const leader = await etcd.leader();
    if (leader !== undefined) return leader;
    await realClock.sleep(50);
  }
}

/** Asserts that acknowledged writes exist on either server, and that the watch has reported every acknowledged state. */
async function checkPromises({ machine }: Site, { configMaps: watched, states }: Watcher, { acknowledged }: Load): Promise<number> {
  const newest = Math.max(...acknowledged.map(({ revision }) => Number(revision)));
  await watched.reached(String(newest));
  const [first = [], second = []] = await Promise.all(
    ["first", "second"].map(async (name) => {
      await using seen = await observeCluster(join(machine.home(name), "kubeconfig"));
      return (await seen.client.list(configMaps, { namespace: LOAD })).items;
    }),
  );
  deepEqual(first, second, "both servers list the same objects");
  const changes = new Map(first.map(({ metadata, data }) => [metadata.name, Number(data?.["change"])]));
  deepEqual(
    acknowledged.filter(({ name, change }) => (changes.get(name) ?? -1) < change),
    [],
    "acknowledged writes exist",
  );
  deepEqual(
    acknowledged.filter(({ revision }) => !states.has(revision)),
    [],
    "the watch has reported every acknowledged change",
  );
  return newest;
}

/** Ready, and without the initial taint of a new node, which stays a little longer. */
function takesPods({ spec, status }: Node): boolean {
  const isReady = status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") === true;
  return isReady && (spec?.taints ?? []).length === 0;
}

test(
  "an etcd leader and an API server are killed under load: writes, kubectl, watches and rollouts continue, and both recover",
  { ...needs("etcd", "kubectl"), timeout: 400_000 },
  async (context) => {
    await using owned = new Disposables();
    const site = await startSite(owned);
    const { etcd, kubectl, second } = site;
    const watcher = await watchSite(site, owned);
    await until(watcher.slices, () => watcher.servers().join() === "192.0.2.1,192.0.2.2");
    await until(watcher.leases, () => !watcher.holders().includes(""));
    const holdersAtFirst = watcher.holders();
    await deploy(watcher, kubectl);
    const other = owned.use(await observeCluster(site.otherKubeconfig));
    const load = owned.use(new Load([watcher.client, other.client]));
    await load.continues();

    const leader = await leaderOf(etcd);
    await survive(context, site, load, { of: "etcd-leader", kill: () => etcd.kill(leader), gapMaxMs: ETCD_GAP_MAX_MS });
    const killServer = async () => {
      second.kill("SIGKILL");
      await once(second, "close");
    };
    await survive(context, site, load, { of: "api-server", kill: killServer, gapMaxMs: SERVER_GAP_MAX_MS });
    await until(watcher.leases, () => watcher.holders().every((holder) => !holdersAtFirst.includes(holder)));
    await until(watcher.slices, () => watcher.servers().join() === "192.0.2.1");

    await etcd.restart(leader);
    await site.restartSecond();
    await load.continues();
    await load[Symbol.asyncDispose]();
    context.diagnostic(`${load.acknowledged.length} writes acknowledged, ${load.failures} not`);
    await until(watcher.slices, () => watcher.servers().join() === "192.0.2.1,192.0.2.2");
    await nodesOfBoth(watcher, kubectl);
    const newest = await checkPromises(site, watcher, load);
    const member = await etcdStore([etcd.endpoints[leader] as string]);
    owned.defer(() => member.close());
    ok((await member.currentRevision()) >= newest, "the restarted member has what was written while it was down");
  },
);

/** Names and addresses are unique, and all of them run Pods. */
async function nodesOfBoth({ nodes: seen, client }: Watcher, kubectl: Kubectl): Promise<void> {
  await until(seen, () => seen.list().filter(takesPods).length === 4);
  const names = seen.list().map(({ metadata }) => metadata.name);
  deepEqual(names, ["m-first-0", "m-first-1", "m-second-0", "m-second-1"]);
  const addresses = seen.list().map(({ status }) => status?.addresses?.find(({ type }) => type === "InternalIP")?.address);
  equal(new Set(addresses).size, names.length);
  await kubectl(`scale deployment/web --replicas=${REPLICAS * 2}`);
  await kubectl(ROLLED_OUT);
  const running = (await client.list(pods, { namespace: "default" })).items.filter(
    ({ metadata }) => metadata.deletionTimestamp === undefined,
  );
  deepEqual([...new Set(running.map(({ spec }) => spec?.nodeName ?? ""))].toSorted(), names);
  equal(new Set(running.map(({ status }) => status?.podIP)).size, running.length, "Pod addresses are unique");
}

const SHORT = ["--leader-elect-lease-duration=3s", "--leader-elect-renew-deadline=2s", "--leader-elect-retry-period=500ms"];

test(
  "controllers and a scheduler whose only API server dies lose leadership to those of the other server, and back",
  { ...needs("etcd"), timeout: 200_000 },
  async () => {
    await using owned = new Disposables();
    const etcd = owned.use(await startEtcd());
    const machine = await machineOf(owned);
    const start = async (name: string, listen: string) => {
      const kubeconfig = join(machine.root, name);
      const shared = ["--etcd-servers", etcd.endpoints.join(","), "--cert-dir", join(machine.root, "pki"), "--bind-address", "127.0.0.1"];
      const { child } = await machine.start(
        ["apiserver", ...shared, `--secure-port=${listen}`, "--kubeconfig", kubeconfig],
        /^listening on /,
      );
      return { child, kubeconfig };
    };
    const parts = async (kubeconfig: string): Promise<readonly LeaderElectedProcess[]> => [
      owned.use(await startControllerManagerProcess({ kubeconfig, flags: SHORT })),
      owned.use(await startSchedulerProcess({ kubeconfig, flags: SHORT })),
    ];
    const [one, other] = [await start("one", String(await freePort())), await start("other", "0")];
    const { client, informers } = owned.use(await observeCluster(other.kubeconfig));
    const seen = informers.of(pods);
    const deployed = async (name: string): Promise<void> => {
      await client.create(deployments, placedAnywhere(name));
      await until(
        seen,
        () => seen.list().filter(({ metadata, spec }) => metadata.labels?.["app"] === name && spec?.nodeName === "n").length === 2,
      );
    };
    await seen.synced();
    await client.create(nodes, aNode("n"));
    const ofOne = await parts(one.kubeconfig);
    await Promise.all(ofOne.map((part) => part.becomesLeader()));
    const ofOther = await parts(other.kubeconfig);
    await deployed("before");

    one.child.kill("SIGKILL");
    await Promise.all([...ofOne.map((part) => part.losesLeadership()), ...ofOther.map((part) => part.becomesLeader())]);
    await deployed("between");

    // The server restarted at the same address is found by the processes that waited for it.
    await start("one", portIn(await readFile(one.kubeconfig, "utf8")));
    for (const part of ofOther) await part[Symbol.asyncDispose]();
    await Promise.all(ofOne.map((part) => part.becomesLeader()));
    await deployed("after");
  },
);

function portIn(kubeconfig: string): string {
  return /https:\/\/127\.0\.0\.1:(\d+)/.exec(kubeconfig)?.[1] ?? "";
}

test(
  "/readyz of a server whose etcd does not respond reports that it is not ready, also without credentials",
  { ...needs("etcd"), timeout: 200_000 },
  async () => {
    await using owned = new Disposables();
    const etcd = owned.use(await startEtcd());
    const machine = await machineOf(owned);
    const words = ["--etcd-servers", etcd.endpoints.join(","), "--cert-dir", join(machine.root, "pki"), "--secure-port=0"];
    const { lines } = await machine.start(["apiserver", ...words], /^listening on /);
    const server = (lines.at(-1) ?? "").replace("listening on ", "");

    const isReady = async (): Promise<void> => {
      while ((await readiness(server)) !== 200) await realClock.sleep(PAUSE_MS);
    };
    await isReady();
    etcd.freeze();
    // The kernel stops the threads of etcd one by one: on a busy machine one of them may still respond.
    let code = await readiness(server);
    while (code === 200) code = await readiness(server);
    equal(code, 500);
    etcd.thaw();
    await isReady();
  },
);

/** As a load balancer does: without a client certificate, and without verifying the server's. */
async function readiness(server: string): Promise<number | undefined> {
  const asked = get(`${server}/readyz`, { rejectUnauthorized: false, agent: false });
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  answer.resume();
  return answer.statusCode;
}

/** Two Pods, on nodes in whatever state. */
function placedAnywhere(name: string): Deployment {
  const web = aDeployment(name, { replicas: 2 }) as Deployment;
  const template = web.spec?.template;
  const spec = { ...template?.spec, tolerations: [{ operator: "Exists" }] };
  return {
    ...web,
    metadata: { ...web.metadata, namespace: "default" },
    spec: { ...web.spec, template: { ...template, spec } },
  } as Deployment;
}
