/**
 * A fake scheduler and kubelet that run nothing: each pod is bound to a schedulable node, runs, becomes ready, and is removed after its
 * deletion; nodes send heartbeats. A test can hold back readiness and termination of pods. It is level-triggered: it acts on watched state,
 * never on time, so that held steps are made up for when they are released.
 */
import { readFile } from "node:fs/promises";
import { leases } from "../../src/api/coordination.k8s.io/v1/lease.ts";
import { nodes } from "../../src/api/core/v1/node.ts";
import { pods } from "../../src/api/core/v1/pod.ts";
import { isReady, isTerminal } from "../../src/api/core/v1/pod/readiness.ts";
import type { Node, NodeStatus, Pod, PodStatus } from "../../src/api/generated/core/v1.ts";
import { isReason } from "../../src/api/machinery/status-error.ts";
import { formatMicroTime, formatTime } from "../../src/api/machinery/time.ts";
import { Disposables } from "../../src/base/disposables.ts";
import { silentLogger } from "../../src/base/logger.ts";
import type { Client, ObjectKey } from "../../src/client/client.ts";
import { httpsTransport } from "../../src/client/https/https-transport.ts";
import { loadKubeconfig } from "../../src/client/kubeconfig/load-kubeconfig.ts";
import type { Informer } from "../../src/client/informer/informer.ts";
import { createInformers } from "../../src/client/informer/informers.ts";
import { createClient } from "../../src/client/rest-client.ts";
import { realClock } from "../../src/host/real-clock.ts";
import { realRandom } from "../../src/host/real-random.ts";
import type { TestApiServer } from "../../src/testing/servers/api-server.ts";

/** Which pods may take the next step. */
export interface PodRules {
  ready(pod: Pod): boolean;
  gone(pod: Pod): boolean;
}

const EVERY_POD: PodRules = { ready: () => true, gone: () => true };

/** As kubelets do: a node that is silent for longer is considered lost. */
const HEARTBEAT_MS = 10_000;

export interface StandInKubelet extends AsyncDisposable {
  /** Restricts the next steps to these pods; a missing rule allows all. Completed steps stay. */
  allow(rules: Partial<PodRules>): void;
  /** Creates a schedulable node and sends its heartbeats. */
  addNode(name: string, labels?: Readonly<Record<string, string>>): Promise<void>;
}

/** With the administrator's permissions, over HTTPS, for the pods of every namespace. Its first node is "node-1". */
export async function startStandInKubelet(server: Pick<TestApiServer, "kubeconfig">): Promise<StandInKubelet> {
  await using starting = new Disposables();
  const connection = await loadKubeconfig({ path: server.kubeconfig, environment: {}, homeDirectory: "/none", readFile });
  const transport = starting.use(httpsTransport(connection, { clock: realClock, log: silentLogger, userAgent: "stand-in-kubelet" }));
  const informers = starting.use(createInformers({ transport, clock: realClock, random: realRandom(), log: silentLogger }));
  const kubelet = new Kubelet(createClient(transport), informers.of(pods), informers.of(nodes));
  await kubelet.addNode("node-1");
  starting.use(kubelet.listen());
  const running = starting.move();
  return {
    allow: (rules) => kubelet.allow(rules),
    addNode: (name, labels) => kubelet.addNode(name, labels),
    async [Symbol.asyncDispose]() {
      await kubelet.stop();
      await running[Symbol.asyncDispose]();
      kubelet.check();
    },
  };
}

class Kubelet {
  readonly #client: Client;
  readonly #pods: Informer<Pod>;
  readonly #nodes: Informer<Node>;
  readonly #stop = new AbortController();
  readonly #working = new Set<Promise<void>>();
  readonly #errors: unknown[] = [];
  #rules = EVERY_POD;
  #addresses = 0;

  constructor(client: Client, knownPods: Informer<Pod>, knownNodes: Informer<Node>) {
    this.#client = client;
    this.#pods = knownPods;
    this.#nodes = knownNodes;
  }

  listen(): Disposable {
    const step = (pod: Pod): void => this.#step(pod);
    const again = (): void => this.#stepAll();
    const listening = [
      this.#pods.listen({ added: step, updated: step, deleted: () => undefined }),
      this.#nodes.listen({ added: again, updated: again, deleted: () => undefined }),
    ];
    return { [Symbol.dispose]: () => listening.forEach((each) => each[Symbol.dispose]()) };
  }

  allow(rules: Partial<PodRules>): void {
    this.#rules = { ...EVERY_POD, ...rules };
    this.#stepAll();
  }

  async addNode(name: string, labels: Readonly<Record<string, string>> = {}): Promise<void> {
    const made = await this.#client.create(nodes, { apiVersion: "v1", kind: "Node", metadata: { name, labels }, status: readyNode() });
    this.#track(this.#keepAlive(name, made.metadata.uid ?? ""));
  }

  /** Resolves when no request is in flight. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#working);
  }

  /** Throws errors that occurred. */
  check(): void {
    if (this.#errors.length > 0) throw new AggregateError(this.#errors, "The stand-in kubelet failed");
  }

  #stepAll(): void {
    for (const pod of this.#pods.list()) this.#step(pod);
  }

  #step(pod: Pod): void {
    if (this.#stop.signal.aborted) return;
    const step = this.#nextStep(pod);
    if (step !== undefined) this.#track(step);
  }

  /** Each step changes the pod, which triggers the next one. Undefined: nothing to do. */
  #nextStep(pod: Pod): Promise<unknown> | undefined {
    const { metadata, spec } = pod;
    if (metadata.deletionTimestamp !== undefined) return this.#rules.gone(pod) ? this.#remove(pod) : undefined;
    if (isTerminal(pod)) return undefined;
    if (spec?.nodeName === undefined) return this.#bind(pod);
    const ready = isReady(pod) || this.#rules.ready(pod);
    if (pod.status?.phase === "Running" && isReady(pod) === ready) return undefined;
    return this.#client.updateStatus(pods, { ...pod, status: { ...pod.status, ...runningStatus(pod, { ready, ip: this.#newIp() }) } });
  }

  #bind({ metadata }: Pod): Promise<unknown> | undefined {
    const node = this.#nodes.list().find(({ spec }) => spec?.unschedulable !== true);
    if (node === undefined) return undefined;
    const target = { apiVersion: "v1", kind: "Node", name: node.metadata.name };
    const binding = { apiVersion: "v1", kind: "Binding", metadata: { name: metadata.name, uid: metadata.uid ?? "" }, target };
    return this.#client.post(pods, keyOf(metadata), "binding", binding);
  }

  #remove({ metadata }: Pod): Promise<unknown> {
    return this.#client.delete(pods, keyOf(metadata), { gracePeriodSeconds: 0, preconditions: { uid: metadata.uid ?? "" } });
  }

  #newIp(): string {
    this.#addresses += 1;
    return `10.244.${this.#addresses >> 8}.${this.#addresses & 0xff}`;
  }

  async #keepAlive(name: string, uid: string): Promise<void> {
    const { signal } = this.#stop;
    const lease = { namespace: "kube-node-lease", name };
    const owner = { apiVersion: "v1", kind: "Node", name, uid };
    const spec = () => ({ holderIdentity: name, leaseDurationSeconds: 40, renewTime: formatMicroTime(realClock.now()) });
    await this.#client.create(leases, {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { ...lease, ownerReferences: [owner] },
      spec: spec(),
    });
    for (;;) {
      await realClock.sleep(HEARTBEAT_MS, signal).catch(() => undefined);
      if (signal.aborted) return;
      await this.#client.patch(leases, lease, { type: "merge", value: { spec: spec() } });
    }
  }

  /** A concurrent change (a newer state of the pod, its deletion) arrives as the next event and is handled then. */
  #track(work: Promise<unknown>): void {
    const tracked: Promise<void> = work.then(
      () => void this.#working.delete(tracked),
      (error: unknown) => {
        this.#working.delete(tracked);
        if (!isReason(error, "Conflict") && !isReason(error, "NotFound")) this.#errors.push(error);
      },
    );
    this.#working.add(tracked);
  }
}

function keyOf({ namespace, name }: Pod["metadata"]): ObjectKey {
  return { namespace, name };
}

function readyNode(): NodeStatus {
  const now = formatTime(realClock.now());
  const ready = {
    type: "Ready",
    status: "True",
    reason: "KubeletReady",
    message: "kubelet is posting ready status",
    lastHeartbeatTime: now,
    lastTransitionTime: now,
  };
  return {
    conditions: [ready],
    capacity: { cpu: "8", memory: "16Gi", pods: "110" },
    allocatable: { cpu: "8", memory: "16Gi", pods: "110" },
  };
}

function runningStatus({ spec, status }: Pod, { ready, ip }: { readonly ready: boolean; readonly ip: string }): PodStatus {
  const now = formatTime(realClock.now());
  const condition = (type: string, isTrue: boolean) => ({ type, status: isTrue ? "True" : "False", lastTransitionTime: now }) as const;
  const podIP = status?.podIP ?? ip;
  return {
    phase: "Running",
    podIP,
    podIPs: [{ ip: podIP }],
    startTime: status?.startTime ?? now,
    conditions: [
      condition("PodScheduled", true),
      condition("Initialized", true),
      condition("ContainersReady", ready),
      condition("Ready", ready),
    ],
    containerStatuses: (spec?.containers ?? []).map(({ name, image = "" }) => ({
      name,
      image,
      imageID: image,
      containerID: `stand-in://${name}`,
      ready,
      restartCount: 0,
      started: true,
      state: { running: { startedAt: now } },
    })),
  };
}
