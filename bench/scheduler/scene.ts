/**
 * Environment of a workload, in one process: a cluster without kubelets whose nodes are only objects, as in scheduler_perf, and the steps
 * of its workloads. The API server is the real one with RBAC and default admission, the store is in memory, and the scheduler runs as `k8ts
 * up` starts it. Only the controllers that namespaces need run beside it.
 */
import { namespaces } from "../../src/api/core/v1/namespace.ts";
import { nodes } from "../../src/api/core/v1/node.ts";
import { persistentVolumeClaims } from "../../src/api/core/v1/persistent-volume-claim.ts";
import { persistentVolumes } from "../../src/api/core/v1/persistent-volume.ts";
import { pods } from "../../src/api/core/v1/pod.ts";
import { serviceAccounts } from "../../src/api/core/v1/service-account.ts";
import { services } from "../../src/api/core/v1/service.ts";
import type { Pod } from "../../src/api/generated/core/v1.ts";
import { priorityClasses } from "../../src/api/scheduling.k8s.io/v1/priority-class.ts";
import { csiNodes } from "../../src/api/storage.k8s.io/v1/csi-node.ts";
import type { KubeObject } from "../../src/api/machinery/object.ts";
import type { Client, Draft, ObjectKey, ResourceKind } from "../../src/client/client.ts";
import { createClient } from "../../src/client/rest-client.ts";
import { realClock } from "../../src/host/real-clock.ts";
import type { Cluster } from "../../src/embedded/cluster.ts";
import { startCluster } from "../../src/embedded/start-cluster.ts";
import { collectGarbage } from "../serve.ts";
import {
  boundVolumeOf,
  csiNodeOf,
  HIGH_PRIORITY_CLASS,
  nodeOf,
  podOf,
  withClaim,
  type NodeTemplate,
  type PodTemplate,
  type VolumeTemplate,
} from "./objects.ts";
import { profiled } from "./profile.ts";

/** Concurrency of scheduler_perf. */
const CREATE_CONCURRENCY = 30;

/**
 * Controllers for the service account that admission requires, and those that scheduler_perf runs. No node lifecycle controller: without
 * kubelets it would mark the nodes as unreachable.
 */
const CONTROLLERS = ["serviceaccount-controller", "namespace-controller", "garbage-collector-controller", "resourceclaim-controller"];

/** The cost of scheduling the measured Pods. */
export interface Measured {
  readonly tookMs: number;
  /** Of this process, all threads included. Depends much less than the duration on what else the machine does. */
  readonly cpuMs: number;
}

export interface PodStep {
  readonly count: number;
  /** Of all Pods, or of each by its index. */
  readonly template: PodTemplate | ((index: number) => PodTemplate);
  readonly namespace?: string;
  /** Each Pod has a claim that is bound to a volume of its own; both exist before the first Pod. */
  readonly volume?: VolumeTemplate;
}

export class Scene implements AsyncDisposable {
  readonly #cluster: Cluster;
  readonly #client: Client;
  readonly #stopping = new AbortController();
  readonly #beside: Promise<void>[] = [];
  #names = 0;

  private constructor(cluster: Cluster, client: Client) {
    this.#cluster = cluster;
    this.#client = client;
  }

  static async start(): Promise<Scene> {
    // As in `k8ts up`; tests freeze shared objects.
    const cluster = await startCluster({ nodes: 0, controllers: CONTROLLERS, api: { freezeObjects: false } });
    const client = createClient(cluster.transport({ userAgent: "bench" }));
    const { name, value } = HIGH_PRIORITY_CLASS;
    await client.create(priorityClasses, { apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", metadata: { name }, value });
    return new Scene(cluster, client);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#beside);
    await this.#cluster.close();
  }

  async createNodes(count: number, template: NodeTemplate = {}): Promise<void> {
    await createMany(count, async () => {
      const made = await this.#client.create(nodes, nodeOf(template, this.#names++));
      if (template.csi !== undefined) await this.#client.create(csiNodes, csiNodeOf(template.csi, made.metadata.name));
      // Admission taints every new node as not ready until the node lifecycle controller sees it Ready.
      await this.#client.update(nodes, { ...made, spec: { ...made.spec, taints: template.taints ?? [] } });
    });
  }

  async createObjects<T extends KubeObject>(kind: ResourceKind<T>, objects: readonly Draft<T>[]): Promise<void> {
    const left = objects.values();
    await createMany(objects.length, async () => {
      const { value } = left.next();
      if (value !== undefined) await this.#client.create(kind, value);
    });
  }

  /** As `createObjects`, with their status. */
  async createWithStatus<T extends KubeObject & { readonly status?: object }>(
    kind: ResourceKind<T>,
    objects: readonly Draft<T>[],
  ): Promise<void> {
    const left = objects.values();
    await createMany(objects.length, async () => {
      const { value } = left.next();
      if (value === undefined) return;
      const made = await this.#client.create(kind, value);
      await this.#client.updateStatus(kind, { ...made, status: value.status });
    });
  }

  /** Names of all nodes. */
  async nodeNames(): Promise<readonly string[]> {
    return (await this.#client.list(nodes)).items.map(({ metadata }) => metadata.name);
  }

  async createNamespace(name: string, labels: Readonly<Record<string, string>> = {}): Promise<void> {
    await using account = await this.#arrivals(serviceAccounts, name, () => true);
    await this.#client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } });
    await account.reached(1);
  }

  async createService(namespace: string, selector: Readonly<Record<string, string>>): Promise<ObjectKey> {
    const name = `service-${this.#names++}`;
    const spec = { selector, ports: [{ port: 80, targetPort: 8_000 }] };
    await this.#client.create(services, { apiVersion: "v1", kind: "Service", metadata: { namespace, name }, spec });
    return { namespace, name };
  }

  /** Creates Pods without waiting. Resolves with their namespace: a new one if none is given. */
  async createPods(step: PodStep): Promise<string> {
    const namespace = step.namespace ?? (await this.#newNamespace());
    await this.#createPods(step, namespace, await this.#createVolumes(step, namespace));
    return namespace;
  }

  /** `claims`: one for each, if they have any. */
  async #createPods({ count, template }: PodStep, namespace: string, claims: readonly string[]): Promise<void> {
    const left = claims.values();
    let index = 0;
    await createMany(count, () => {
      const pod = podOf(typeof template === "function" ? template(index++) : template, namespace, `pod-${this.#names++}`);
      const claim = left.next().value;
      return this.#client.create(pods, claim === undefined ? pod : withClaim(pod, claim));
    });
  }

  /** Returns the names of the claims. */
  async #createVolumes({ count, volume: template }: PodStep, namespace: string): Promise<readonly string[]> {
    if (template === undefined) return [];
    const names: string[] = [];
    await createMany(count, async () => {
      const name = `volume-${this.#names++}`;
      names.push(name);
      const { volume, claim } = boundVolumeOf(template, namespace, name);
      await this.#client.create(persistentVolumes, volume);
      await this.#client.create(persistentVolumeClaims, claim);
    });
    return names;
  }

  /** Creates Pods and waits until they are bound; resolves with their namespace. */
  async schedulePods(step: PodStep): Promise<string> {
    const place = step.namespace ?? (await this.#newNamespace());
    await using bound = await this.#arrivals(pods, place, hasNode);
    await Promise.all([this.createPods({ ...step, namespace: place }), bound.reached(bound.seen + step.count)]);
    return place;
  }

  /** From the creation of the first Pod until a watch shows the last one as bound. */
  async measurePods(step: PodStep): Promise<Measured> {
    const namespace = step.namespace ?? (await this.#newNamespace());
    const claims = await this.#createVolumes(step, namespace);
    await using bound = await this.#arrivals(pods, namespace, hasNode);
    collectGarbage();
    return await measured(() => Promise.all([this.#createPods(step, namespace, claims), bound.reached(step.count)]));
  }

  /** Until `count` Pods were scheduled, if so many exist at a time: each is deleted as soon as it is bound, and replaced. */
  async measureSteadily({ count, template, namespace = "default" }: PodStep, concurrent: number): Promise<Measured> {
    let left = count;
    let index = 0;
    const worker = async (): Promise<void> => {
      while (left-- > 0) {
        const pod = podOf(typeof template === "function" ? template(index++) : template, namespace, `pod-${this.#names++}`);
        const key = { namespace, name: pod.metadata.name ?? "" };
        await this.#client.create(pods, pod);
        await this.#cluster.until<Pod>(`pods/${key.name}`, (seen) => seen !== undefined && hasNode(seen), { namespace, within: "10m" });
        await this.#client.delete(pods, key, { gracePeriodSeconds: 0 });
      }
    };
    collectGarbage();
    return await measured(() => Promise.all(Array.from({ length: concurrent }, worker)));
  }

  /** Creates one Pod per interval until the workload ends. */
  async churnPods(template: PodTemplate, intervalMs: number): Promise<void> {
    const namespace = await this.#newNamespace();
    this.#every(intervalMs, () => this.createPods({ count: 1, template, namespace }));
  }

  /** Creates and deletes periodically a full node, an unschedulable Pod and a Service. */
  async recreateMixed(template: PodTemplate, intervalMs: number): Promise<void> {
    const namespace = await this.#newNamespace();
    let made: readonly [ResourceKind, ObjectKey][] = [];
    this.#every(intervalMs, async () => {
      if (made.length > 0) {
        for (const [kind, key] of made) await this.#client.delete(kind, key, { gracePeriodSeconds: 0 });
        made = [];
        return;
      }
      const node = await this.#client.create(nodes, nodeOf({ name: `churn-${this.#names++}`, pods: "0" }, 0));
      const pod = await this.#client.create(pods, podOf(template, namespace, `pod-${this.#names++}`));
      const service = await this.createService(namespace, { app: "foo" });
      made = [
        [nodes, { name: node.metadata.name }],
        [pods, { namespace, name: pod.metadata.name }],
        [services, service],
      ];
    });
  }

  /** Deletes the Pods of a namespace at the given rate, until none is left or the workload ends. */
  async deletePods(namespace: string, perSecond: number): Promise<void> {
    const { items } = await this.#client.list(pods, { namespace });
    const left = items.values();
    this.#every(1_000 / perSecond, async () => {
      const { value } = left.next();
      if (value !== undefined) await this.#client.delete(pods, { namespace, name: value.metadata.name });
    });
  }

  #every(intervalMs: number, act: () => Promise<unknown>): void {
    const { signal } = this.#stopping;
    const beganAtMs = performance.now();
    const going = async (): Promise<void> => {
      for (let turn = 1; !signal.aborted; turn++) {
        await realClock.sleep(Math.max(0, beganAtMs + turn * intervalMs - performance.now()), signal).catch(() => {});
        if (!signal.aborted) await act();
      }
    };
    this.#beside.push(going());
  }

  async #newNamespace(): Promise<string> {
    const name = `namespace-${this.#names++}`;
    await this.createNamespace(name);
    return name;
  }

  /** Counts the objects of a namespace that satisfy the predicate, existing and future ones. */
  async #arrivals<T extends KubeObject>(
    kind: ResourceKind<T>,
    namespace: string,
    isArrived: (object: T) => boolean,
  ): Promise<AsyncDisposable & { readonly seen: number; reached(count: number): Promise<void> }> {
    const arrived = new Set<string>();
    let onArrival: () => void = () => {};
    const see = (object: T): void => void (isArrived(object) && arrived.add(object.metadata.uid ?? ""));
    const { items, metadata } = await this.#client.list(kind, { namespace });
    for (const item of items) see(item);
    const watch = await this.#client.watch(
      kind,
      { namespace, resourceVersion: metadata.resourceVersion ?? "" },
      {
        event(event) {
          if (event.type !== "ADDED" && event.type !== "MODIFIED") return;
          see(event.object);
          onArrival();
        },
        ended() {},
      },
    );
    return {
      get seen() {
        return arrived.size;
      },
      reached: (count) =>
        new Promise((resolve) => {
          onArrival = () => void (arrived.size >= count && resolve());
          onArrival();
        }),
      async [Symbol.asyncDispose]() {
        watch.stop();
      },
    };
  }
}

async function measured(work: () => Promise<unknown>): Promise<Measured> {
  return await profiled(async () => {
    const [beganAtMs, cpu] = [performance.now(), process.cpuUsage()];
    await work();
    const { user, system } = process.cpuUsage(cpu);
    return { tookMs: performance.now() - beganAtMs, cpuMs: (user + system) / 1_000 };
  });
}

function hasNode({ spec }: Pod): boolean {
  return (spec?.nodeName ?? "") !== "";
}

async function createMany(count: number, createOne: () => Promise<unknown>): Promise<void> {
  let left = count;
  const worker = async (): Promise<void> => {
    while (left-- > 0) await createOne();
  };
  await Promise.all(Array.from({ length: CREATE_CONCURRENCY }, worker));
}
