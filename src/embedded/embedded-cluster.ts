/** Implements the contract in cluster.ts with the running components. */
import { ADMINISTRATOR, type IdentityName } from "../api/identities.ts";
import { pods } from "../api/core/v1/pod.ts";
import type { KubeObject, ObjectMeta } from "../api/machinery/object.ts";
import type { Transport } from "../api/machinery/transport.ts";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { Random } from "../base/random.ts";
import type { Client, ResourceKind } from "../client/client.ts";
import { createClient } from "../client/rest-client.ts";
import type { Decision } from "../scheduler/decisions.ts";
import type { Cluster, ExecOutcome, ForkOptions, InNamespace } from "./cluster.ts";
import type { ClusterPart, ClusterParts } from "../components/control-plane.ts";
import type { ClusterNodes } from "../components/simulated-nodes/simulated-nodes.ts";
import { drivenTransport, untilClosed } from "./in-process-transports.ts";
import type { Driver } from "./driver.ts";
import { durationInputMs, type DurationInput } from "./duration-input.ts";
import { checkForkOptions, checkUntilOptions } from "./check-options.ts";
import { objectsOf, type Manifests } from "./manifests.ts";
import { kindOfObject, resolveReference } from "./object-reference.ts";
import { execIn, readLogs } from "./pod-access.ts";
import { writeSnapshotFile } from "./snapshot-file.ts";
import type { ReportSources, Seen } from "./until-report.ts";
import { untilSeen, type UntilOptions } from "./until.ts";

/** Field manager of `apply`. */
const FIELD_MANAGER = "k8ts-apply";

/** Virtual time that closing may take: more than any component's last requests need. */
const CLOSING_MAX_MS = 60_000;

export interface EmbeddedOptions {
  readonly clock: Clock;
  /** Absent: real time. */
  readonly driver: Driver | undefined;
  readonly seed: number | undefined;
  readonly random: Random;
  readonly log: Logger;
  /** Stops its components and closes its store. */
  dispose(): Promise<void>;
  fork(options: ForkOptions): Promise<Cluster>;
}

export class EmbeddedCluster implements Cluster {
  readonly parts: readonly ClusterPart[];
  readonly client: Client;
  readonly clock: Clock;
  readonly seed: number | undefined;
  readonly nodes: ClusterNodes;
  readonly #parts: ClusterParts;
  readonly #options: EmbeddedOptions;
  /** Aborted when the cluster is closed: waiters are rejected. */
  readonly #closed = new AbortController();
  #closing: Promise<void> | undefined;

  constructor(parts: ClusterParts, options: EmbeddedOptions) {
    this.#parts = parts;
    this.#options = options;
    this.parts = parts.list;
    this.clock = options.clock;
    this.seed = options.seed;
    this.nodes = this.#drivenNodes();
    this.client = createClient(drivenTransport(this.transport({ userAgent: "k8ts" }), options.driver));
  }

  #drivenNodes(): ClusterNodes {
    const { nodes } = this.#parts;
    return {
      names: () => nodes.names(),
      isRunning: (name) => nodes.isRunning(name),
      add: (name) => this.#through(() => nodes.add(name)),
      isPoweredOff: (name) => nodes.isPoweredOff(name),
      stop: (name) => this.#through(() => nodes.stop(name)),
      powerOff: (name) => this.#through(() => nodes.powerOff(name)),
      start: (name) => this.#through(() => nodes.start(name)),
      remove: (name) => this.#through(() => nodes.remove(name)),
    };
  }

  get url(): string {
    return this.#door().url;
  }

  get kubeconfig(): string {
    return this.#door().kubeconfig;
  }

  #door() {
    const { door } = this.#parts;
    if (door === undefined) throw new Error("This cluster has no address: start it with `listen: true` to serve HTTPS");
    return door;
  }

  transport({ userAgent, identity = ADMINISTRATOR }: { readonly userAgent: string; readonly identity?: IdentityName }): Transport {
    return untilClosed(this.#parts.transportFor(identity, userAgent), this.#closed.signal);
  }

  async apply(manifests: Manifests, { namespace = "default" }: InNamespace = {}): Promise<readonly KubeObject[]> {
    const applied: KubeObject[] = [];
    for (const object of objectsOf(manifests)) {
      const kind = await kindOfObject(object, this.client);
      const placed = kind.scope === "Namespaced" ? { ...object, metadata: { namespace, ...object.metadata } } : object;
      applied.push(await this.#applyOne(kind, placed));
    }
    return applied;
  }

  /** An object with only generateName is always created. */
  #applyOne(kind: ResourceKind, object: KubeObject): Promise<KubeObject> {
    const { name = "", generateName = "" } = object.metadata as Partial<ObjectMeta>;
    if (name === "" && generateName !== "") return this.client.create(kind, object, { fieldManager: FIELD_MANAGER });
    return this.client.apply(kind, object, { fieldManager: FIELD_MANAGER, force: true });
  }

  async get<T extends KubeObject = KubeObject>(reference: string, options: InNamespace = {}): Promise<T> {
    const { kind, key } = await this.#one(reference, options);
    return (await this.client.get(kind, key)) as T;
  }

  async delete(reference: string, options: InNamespace = {}): Promise<void> {
    const { kind, key } = await this.#one(reference, options);
    await this.client.delete(kind, key);
  }

  async #one(reference: string, { namespace = "default" }: InNamespace) {
    const { kind, name } = await resolveReference(reference, this.client);
    if (name === undefined) throw new Error(`Ambiguous reference: there are several ${kind.plural}; write "${reference}/<name>"`);
    return { kind, key: kind.scope === "Namespaced" ? { namespace, name } : { name } };
  }

  /** Cast to the overloads of the contract. */
  async until(reference: string, condition: (seen: never) => boolean, options: UntilOptions = {}): Promise<never> {
    checkUntilOptions(options);
    const { driver, clock, random, log } = this.#options;
    const resolved = await resolveReference(reference, this.client);
    const report: ReportSources = { client: this.client, decisions: ({ namespace, name }) => this.decisions(name, { namespace }) };
    const context = { transport: this.transport({ userAgent: "k8ts" }), report, driver, clock, random, log, signal: this.#closed.signal };
    return (await untilSeen({ ...resolved, text: reference }, condition as (seen: Seen) => boolean, options, context)) as never;
  }

  async advance(length: DurationInput): Promise<void> {
    await this.#virtual("advance").advance(durationInputMs(length));
  }

  async settle(): Promise<void> {
    await this.#virtual("settle").settle();
  }

  #virtual(what: string): Driver {
    const { driver } = this.#options;
    this.#closed.signal.throwIfAborted();
    if (driver === undefined) throw new Error(`Cannot ${what}: this cluster uses real time; start it with clock: "virtual"`);
    return driver;
  }

  async logs(name: string, { namespace = "default", container }: InNamespace & { readonly container?: string } = {}): Promise<string> {
    const pod = await this.client.get(pods, { namespace, name });
    return this.#through(() => readLogs(this.#parts.nodes, pod, container));
  }

  async exec(
    name: string,
    command: readonly string[],
    { namespace = "default", container }: InNamespace & { readonly container?: string } = {},
  ): Promise<ExecOutcome> {
    const pod = await this.client.get(pods, { namespace, name });
    return this.#through(() => execIn(this.#parts.nodes, pod, command, container));
  }

  decisions(name: string, { namespace = "default" }: InNamespace = {}): readonly Decision[] {
    return this.#parts.scheduler?.acting()?.decisions({ namespace, name }) ?? [];
  }

  async fork(options: ForkOptions = {}): Promise<Cluster> {
    this.#closed.signal.throwIfAborted();
    checkForkOptions(options);
    // Due work is done here, before there are two clusters.
    await this.#options.driver?.settle();
    return this.#options.fork(options);
  }

  async snapshot(file: string): Promise<void> {
    this.#closed.signal.throwIfAborted();
    await this.#options.driver?.settle();
    await writeSnapshotFile(file, this.#parts.store, { nowMs: this.clock.now(), nodes: this.#parts.nodes.config() });
  }

  close(): Promise<void> {
    const { driver, dispose } = this.#options;
    this.#closed.abort(new Error("This cluster is closed"));
    return (this.#closing ??= driver?.toTheEnd(dispose(), CLOSING_MAX_MS) ?? dispose());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #through<T>(operation: () => Promise<T>): Promise<T> {
    this.#closed.signal.throwIfAborted();
    return this.#options.driver?.through(operation()) ?? operation();
  }
}
