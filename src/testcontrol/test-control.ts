/**
 * Everything that test control manages: the clusters (the main one and its forks), and the snapshots that they share. Operations that
 * replace or copy state run one at a time. Not here: HTTP (api/).
 */
import type { Logger } from "../base/logger.ts";
import type { ClusterParts } from "../components/control-plane.ts";
import type { NodesConfig } from "../components/simulated-nodes/simulated-nodes.ts";
import type { ApiServerOptions } from "../config/api-server-config.ts";
import { realClock } from "../host/real-clock.ts";
import { ControlledCluster, type ResetOutcome } from "./controlled-cluster.ts";
import type { Generation, GenerationConfig } from "./generation.ts";
import { conflict, notFound, tooMany } from "./problem.ts";
import { EMPTY, Snapshots, type Snapshot } from "./snapshot.ts";

export const MAIN = "main";

/** Each is a whole cluster in this process. */
export const FORKS_MAX = 16;

/** Waiting operations that replace or copy state. A suite has one at a time, parallel suites a few. */
const WAITING_MAX = 64;

/** Revisions of one generation: more writes than a process could hold. 2 ** 53 is enough for eight million resets. */
const REVISIONS_PER_GENERATION = 2 ** 30;

/** The state after the start is complete when the store was idle for this duration: controllers have created what every cluster has. */
const IDLE_MS = 100;
const IDLE_POLL_MS = 20;
/** A cluster that is never idle is used as it is. */
const IDLE_WITHIN_MS = 10_000;

export interface TestControlOptions {
  readonly config: GenerationConfig;
  readonly apiServer: ApiServerOptions;
  readonly nodes: NodesConfig;
  /** Called with the components of the first generation, before the snapshot "empty" is taken. */
  prepare?(first: ClusterParts): Promise<void>;
  readonly log: Logger;
}

export class TestControl implements AsyncDisposable {
  readonly snapshots = new Snapshots();
  readonly #options: TestControlOptions;
  readonly #clusters = new Map<string, ControlledCluster>();
  #generations = 0;
  #forks = 0;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  static async start(options: TestControlOptions): Promise<TestControl> {
    const control = new TestControl(options);
    try {
      await control.#startMain();
      return control;
    } catch (error) {
      await control[Symbol.asyncDispose]();
      throw error;
    }
  }

  private constructor(options: TestControlOptions) {
    this.#options = options;
  }

  async #startMain(): Promise<void> {
    const { nodes, prepare } = this.#options;
    const main = await this.#start(MAIN, { is: "new", nodes, nowMs: wholeSecondMs(realClock.now()) });
    const { current } = main;
    if (prepare !== undefined) await current.through(prepare);
    await untilIdle(current);
    const empty = await current.snapshot(EMPTY);
    this.snapshots.add(empty);
    main.prepare(empty);
  }

  get clusters(): readonly ControlledCluster[] {
    return [...this.#clusters.values()];
  }

  get isVirtual(): boolean {
    return this.#options.config.isVirtual;
  }

  /** Throws a NotFound problem. */
  cluster(name: string): ControlledCluster {
    const found = this.#clusters.get(name);
    if (found !== undefined) return found;
    throw notFound(`Cluster "${name}" does not exist`, `Use one of: ${[...this.#clusters.keys()].join(", ")}`);
  }

  reset(name: string, options: { readonly snapshot?: string; readonly seed?: number }): Promise<ResetOutcome> {
    return this.#inTurn(() => this.cluster(name).reset(this.snapshots.get(options.snapshot ?? EMPTY), options.seed));
  }

  takeSnapshot(name: string, of: string): Promise<Snapshot> {
    return this.#inTurn(async () => {
      this.snapshots.checkAddition(name);
      const cluster = this.cluster(of);
      const snapshot = await cluster.current.snapshot(name);
      const before = this.snapshots.list().find((each) => each.name === name);
      if (before !== undefined) this.#forget(before);
      this.snapshots.add(snapshot);
      cluster.prepare(snapshot);
      return snapshot;
    });
  }

  deleteSnapshot(name: string): Promise<void> {
    return this.#inTurn(async () => {
      const snapshot = this.snapshots.get(name);
      this.snapshots.remove(name);
      this.#forget(snapshot);
    });
  }

  #forget(snapshot: Snapshot): void {
    for (const cluster of this.#clusters.values()) cluster.forget(snapshot);
  }

  /** A new cluster at a port of its own, from the current state of another one or from a snapshot. */
  fork(options: { readonly name?: string; readonly of?: string; readonly snapshot?: string }): Promise<ControlledCluster> {
    return this.#inTurn(async () => {
      if (this.#clusters.size > FORKS_MAX)
        throw tooMany(`There are ${FORKS_MAX} forks, the maximum`, "Remove some with DELETE /v1/clusters/{name}");
      const name = options.name ?? this.#nextForkName();
      if (this.#clusters.has(name)) throw conflict(`Cluster "${name}" exists already`, "Choose another name, or remove it first");
      const original = this.cluster(options.of ?? MAIN);
      const snapshot = options.snapshot === undefined ? await original.current.snapshot(name) : this.snapshots.get(options.snapshot);
      return this.#start(name, { is: "snapshot", snapshot, revision: this.#nextRevision() }, original);
    });
  }

  removeFork(name: string): Promise<void> {
    return this.#inTurn(async () => {
      const fork = this.cluster(name);
      if (name === MAIN) throw conflict(`Cluster "${MAIN}" cannot be removed: it is the cluster of k8ts up`, "Stop it with k8ts down");
      this.#clusters.delete(name);
      await fork[Symbol.asyncDispose]();
    });
  }

  async #start(
    name: string,
    beginning: Parameters<typeof ControlledCluster.start>[0],
    original?: ControlledCluster,
  ): Promise<ControlledCluster> {
    const { config, apiServer, log } = this.#options;
    const cluster = await ControlledCluster.start(beginning, {
      ...{ name, config, log, nextRevision: () => this.#nextRevision() },
      ...(original === undefined ? { apiServer } : { apiServer: servedElsewhere(apiServer), pki: original.door.served.pki }),
    });
    this.#clusters.set(name, cluster);
    return cluster;
  }

  #nextForkName(): string {
    for (;;) {
      const name = `fork-${++this.#forks}`;
      if (!this.#clusters.has(name)) return name;
    }
  }

  #nextRevision(): number {
    return ++this.#generations * REVISIONS_PER_GENERATION;
  }

  async #inTurn<T>(operation: () => Promise<T>): Promise<T> {
    if (this.#waiting >= WAITING_MAX)
      throw tooMany(`${WAITING_MAX} operations are waiting for each other, the maximum`, "Send the next one when one has been answered");
    this.#waiting++;
    const result = this.#last.then(operation).finally(() => this.#waiting--);
    this.#last = result.catch(() => undefined);
    return result;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#last;
    await Promise.all([...this.#clusters.values()].map((cluster) => cluster[Symbol.asyncDispose]()));
    this.#clusters.clear();
  }
}

/** A fork has a free port and a kubeconfig of its own, in a temporary directory. */
function servedElsewhere(apiServer: ApiServerOptions): ApiServerOptions {
  const { kubeconfig: _file, certificateDirectory: _directory, ...serving } = apiServer.serving;
  return { ...apiServer, serving: { ...serving, securePort: 0 } };
}

/** Virtual time starts at a whole second, like the timestamps of objects. */
function wholeSecondMs(nowMs: number): number {
  return Math.floor(nowMs / 1_000) * 1_000;
}

async function untilIdle(generation: Generation): Promise<void> {
  if (generation.driver !== undefined) return generation.driver.settle();
  let revision = await generation.revision();
  let idleMs = 0;
  for (let waitedMs = 0; idleMs < IDLE_MS && waitedMs < IDLE_WITHIN_MS; waitedMs += IDLE_POLL_MS) {
    await realClock.sleep(IDLE_POLL_MS);
    const now = await generation.revision();
    idleMs = now === revision ? idleMs + IDLE_POLL_MS : 0;
    revision = now;
  }
}
