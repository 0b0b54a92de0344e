/**
 * A cluster that no single process is the whole of: a real etcd of three members, two API servers before it, and a port that leads to
 * whichever lives. Members and servers are killed while somebody writes, watches and rolls out. What was acknowledged is there at the end,
 * whoever watched was told of it, and the longest time without an answer has a limit.
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
import type { LedProcess } from "../../src/testing/servers/leader-elected-process.ts";
import { startLoadBalancer, type Target } from "../../src/testing/servers/load-balancer.ts";
import { needs, toolPath } from "../../src/testing/needs.ts";
import { startSchedulerProcess } from "../../src/testing/servers/scheduler-process.ts";
import { seeCluster, until } from "../../src/testing/servers/observed-cluster.ts";
import { etcdStore } from "../../src/testing/fixtures/stores.ts";

/** The members elect a leader within 1 to 2 s. A change that the old one took along is sent again after 3 s, a creation given up after 7 s. */
const ETCD_GAP_MAX_MS = 30_000;
/** Whoever is cut off connects again, and is led to the other server at once, which a busy machine takes some seconds for. */
const SERVER_GAP_MAX_MS = 20_000;

const LOAD = "load";
const WRITERS = 4;
/** Of each object, then the next one comes. */
const CHANGES = 5;
/** About a hundred writes in a second, all writers together: a load that leaves the machine time for the rest of the test. */
const PAUSE_MS = 30;
/** Writes after the failure, to see that the cluster continues. */
const FURTHER_WRITES = 25;

const REPLICAS = 8;
/** So that a rollout, one Pod after the other, takes some seconds. */
const READY_AFTER = { "simulated.k8ts.dev/ready-after": "500ms" };

interface Acknowledged {
  readonly name: string;
  /** How often the object was changed. */
  readonly change: number;
  readonly revision: string;
  readonly atMs: number;
  /** By which of the clients. */
  readonly way: number;
}

/** Writers that remember what they were promised. */
class Load implements AsyncDisposable {
  readonly acknowledged: Acknowledged[] = [];
  failures = 0;
  readonly #clients: readonly Client[];
  readonly #stopped = new AbortController();
  readonly #writers: readonly Promise<void>[];

  /** They write through these by turns. */
  constructor(clients: readonly Client[]) {
    this.#clients = clients.map((client) => client.with({ signal: this.#stopped.signal }));
    this.#writers = Array.from({ length: WRITERS }, (_, writer) => this.#write(writer));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped.abort();
    await Promise.all(this.#writers);
  }

  /** The longest time without an acknowledgement from that moment until now, of who came by the way that was worse off. */
  longestGapMs(fromMs: number): number {
    const nowMs = realClock.monotonic();
    const gaps = this.#clients.flatMap((_, way) => {
      const acknowledged = this.acknowledged.filter((each) => each.way === way && each.atMs >= fromMs).map(({ atMs }) => atMs);
      return [...acknowledged, nowMs].map((atMs, index) => atMs - (acknowledged[index - 1] ?? fromMs));
    });
    return Math.round(Math.max(...gaps));
  }

  /** By every way. */
  async goesOn(): Promise<void> {
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
          // The outcome is unknown, so nothing is expected of it; the next object is another.
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

/** Every state of every object that a watch has shown. */
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

/** As it would be handed out to people who are to come by another address. */
async function withServer(kubeconfig: string, server: string): Promise<string> {
  const path = `${kubeconfig}-${new URL(server).port}`;
  await writeFile(path, (await readFile(kubeconfig, "utf8")).replace(/https:\/\/127\.0\.0\.\d+:\d+/, server), { mode: 0o600 });
  return path;
}

/** A machine that goes after everything else that a test has. */
async function machineOf(owned: Disposables): Promise<K8tsMachine> {
  return K8tsMachine.make({ after: (end) => owned.defer(end) });
}

/** The cluster: etcd, two of `k8ts up` on it, and balancers before them. */
interface Site {
  readonly etcd: EtcdServer;
  readonly machine: K8tsMachine;
  readonly second: ChildProcess;
  /** Again where it was, with nodes of its own. */
  restartSecond(): Promise<void>;
  /** The way that leads to the second as long as it lives, and the way that leads to the first. */
  readonly kubeconfig: string;
  readonly otherKubeconfig: string;
  /** By the way to the second. */
  readonly kubectl: Kubectl;
}

/** The second is there first, so its controllers and its scheduler lead. The first has the nodes, which are to outlive the second. */
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

/** Events of a watch through the second server. */
async function watchSite({ kubeconfig }: Site, owned: Disposables) {
  const { client, informers } = owned.use(await seeCluster(kubeconfig));
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
    /** Who leads: of the controllers, and of the scheduler. */
    holders: () => ["kube-controller-manager", "kube-scheduler"].map(holder),
    /** Where the Service "kubernetes" leads to. */
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

/** A process is killed in the middle of a rollout; a concurrent kubectl change succeeds, and writes continue. */
async function survive(context: TestContext, { kubectl }: Site, load: Load, { of, kill, gapMaxMs }: Death): Promise<void> {
  const rollout = await rollOut(kubectl, of);
  const atMs = realClock.monotonic();
  const sinceMs = () => Math.round(realClock.monotonic() - atMs);
  await kill();
  await kubectl(`label namespace ${LOAD} killed=${of} --overwrite`);
  const answeredMs = sinceMs();
  await load.goesOn();
  const gapMs = load.longestGapMs(atMs);
  await rollout.done;
  context.diagnostic(
    `${of} killed: longest gap in writes ${gapMs} ms, kubectl took ${answeredMs} ms, the rollout continued for ${sinceMs()} ms`,
  );
  ok(gapMs < gapMaxMs, `writes continue: the longest gap was ${gapMs} ms`);
  ok(answeredMs < gapMaxMs, `kubectl continues: it took ${answeredMs} ms`);
}

/** Asks until somebody leads: after a start the members need an election. */
async function leaderOf(etcd: EtcdServer): Promise<number> {
  for (;;) {
    const leader = await etcd.leader();
    if (leader !== undefined) return leader;
    await realClock.sleep(50);
  }
}

/** What was promised is there, whichever server one asks, and the watch has shown every state that was promised. */
async function checkPromises({ machine }: Site, { configMaps: watched, states }: Watcher, { acknowledged }: Load): Promise<number> {
  const newest = Math.max(...acknowledged.map(({ revision }) => Number(revision)));
  await watched.reached(String(newest));
  const [first = [], second = []] = await Promise.all(
    ["first", "second"].map(async (name) => {
      await using seen = await seeCluster(join(machine.home(name), "kubeconfig"));
      return (await seen.client.list(configMaps, { namespace: LOAD })).items;
    }),
  );
  deepEqual(first, second, "both servers show the same");
  const changes = new Map(first.map(({ metadata, data }) => [metadata.name, Number(data?.["change"])]));
  deepEqual(
    acknowledged.filter(({ name, change }) => (changes.get(name) ?? -1) < change),
    [],
    "what was acknowledged is there",
  );
  deepEqual(
    acknowledged.filter(({ revision }) => !states.has(revision)),
    [],
    "the watch has shown every acknowledged change",
  );
  return newest;
}

/** Ready, and without the taint that a new one has for a moment longer. */
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
    const other = owned.use(await seeCluster(site.otherKubeconfig));
    const load = owned.use(new Load([watcher.client, other.client]));
    await load.goesOn();

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
    await load.goesOn();
    await load[Symbol.asyncDispose]();
    context.diagnostic(`${load.acknowledged.length} writes acknowledged, ${load.failures} not`);
    await until(watcher.slices, () => watcher.servers().join() === "192.0.2.1,192.0.2.2");
    await nodesOfBoth(watcher, kubectl);
    const newest = await checkPromises(site, watcher, load);
    const member = await etcdStore([etcd.endpoints[leader] as string]);
    owned.defer(() => member.close());
    ok((await member.currentRevision()) >= newest, "the member that came back has what was written while it was away");
  },
);

/** No two are called the same or have the same address, and all of them run Pods. */
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
  equal(new Set(running.map(({ status }) => status?.podIP)).size, running.length, "no two Pods have one address");
}

const SHORT = ["--leader-elect-lease-duration=3s", "--leader-elect-renew-deadline=2s", "--leader-elect-retry-period=500ms"];

test(
  "controllers and a scheduler whose only API server dies stand by, those of the other server take over, and so it goes back",
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
    const parts = async (kubeconfig: string): Promise<readonly LedProcess[]> => [
      owned.use(await startControllerManagerProcess({ kubeconfig, flags: SHORT })),
      owned.use(await startSchedulerProcess({ kubeconfig, flags: SHORT })),
    ];
    const [one, other] = [await start("one", String(await freePort())), await start("other", "0")];
    const { client, informers } = owned.use(await seeCluster(other.kubeconfig));
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
    await Promise.all(ofOne.map((part) => part.acts()));
    const ofOther = await parts(other.kubeconfig);
    await deployed("before");

    one.child.kill("SIGKILL");
    await Promise.all([...ofOne.map((part) => part.standsBy()), ...ofOther.map((part) => part.acts())]);
    await deployed("between");

    // The same server again, at the same place, is found by those who waited for it.
    await start("one", portIn(await readFile(one.kubeconfig, "utf8")));
    for (const part of ofOther) await part[Symbol.asyncDispose]();
    await Promise.all(ofOne.map((part) => part.acts()));
    await deployed("after");
  },
);

function portIn(kubeconfig: string): string {
  return /https:\/\/127\.0\.0\.1:(\d+)/.exec(kubeconfig)?.[1] ?? "";
}

test(
  "an API server whose etcd does not respond is not ready, also for unauthenticated clients",
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
    equal(await readiness(server), 500);
    etcd.thaw();
    await isReady();
  },
);

/** Like a load balancer: presents no certificate and verifies none. */
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
