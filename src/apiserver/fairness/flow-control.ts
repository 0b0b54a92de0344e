/**
 * API Priority and Fairness of this server: follows FlowSchemas and PriorityLevelConfigurations in the cache, so that a change applies from
 * the next request on, and writes the Dangling condition of FlowSchemas as upstream's controller does. Not here: the decisions
 * (fairness.ts), and creation of the built-in objects (bootstrap/flow-control.ts).
 */
import type { FlowSchema, PriorityLevelConfiguration } from "../../api/generated/flowcontrol.apiserver.k8s.io/v1.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import { formatTime } from "../../api/machinery/time.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import type { AdmitOptions, BodyOwner, ConcurrencyGate, Seat } from "../framework/concurrency.ts";
import type { Flow } from "./classifier.ts";
import { danglingCondition, isSameCondition, usableLevelNames } from "./dangling.ts";
import { Fairness } from "./fairness.ts";
import type { FlowRequest } from "../framework/flow-request.ts";
import { WatchCounts } from "./watch-counts.ts";
import type { Follower } from "../framework/objects.ts";
import type { ServerContext } from "../framework/server-context.ts";
import type { OwnRequests } from "../framework/own-requests.ts";

const LEVELS = { group: "flowcontrol.apiserver.k8s.io", plural: "prioritylevelconfigurations" };
const SCHEMAS = { group: "flowcontrol.apiserver.k8s.io", plural: "flowschemas" };
const SCHEMA_PLACE = { ...SCHEMAS, version: "v1", namespace: "" };

/** Upstream's field manager. */
const FIELD_MANAGER = "api-priority-and-fairness-config-consumer-v1";
/** Maximum status writes of one FlowSchema per minute: servers that disagree must not write forever. */
const WRITES_PER_MINUTE_MAX = 6;
const MINUTE_MS = 60_000;
/** Pause after a failed or postponed write: upstream's minimum and jitter. */
const RETRY_MS_MIN = 30_000;
const RETRY_JITTER_MS = 45_000;

export class FlowControl implements ConcurrencyGate {
  readonly fairness: Fairness;
  readonly watches = new WatchCounts();
  readonly #server: ServerContext;
  readonly #levels = new Map<string, PriorityLevelConfiguration>();
  readonly #schemas = new Map<string, FlowSchema>();
  /** Timestamps of the last minute's status writes, by FlowSchema. */
  readonly #writes = new Map<string, number[]>();
  readonly #closed = new AbortController();
  #requests: OwnRequests | undefined;
  #reconciling: Promise<void> | undefined;
  #isDirty = false;

  constructor(server: ServerContext) {
    this.#server = server;
    const { clock, config, log } = server;
    this.fairness = new Fairness({
      clock,
      serverTotal: config.maxRequestsInFlight + config.maxMutatingRequestsInFlight,
      waitLimitMs: config.requestTimeoutMs / 4,
      estimate: {
        objectCount: (endpoint) => {
          const cache = endpoint?.storage.cache;
          return cache?.isLoaded === true ? cache.size : undefined;
        },
        watchCount: (request) => this.watches.concernedBy(request),
      },
      ignored: (kind, name, problem) => log.warn(`Ignoring ${kind} ${name}: ${problem}; correct or delete it`),
    });
    this.fairness.setObjects(() => ({ levels: [...this.#levels.values()], schemas: [...this.#schemas.values()] }));
  }

  /** Resolves when the objects are applied and their status is written. */
  async start(requests: OwnRequests): Promise<void> {
    const { objects } = this.#server;
    await objects.follow(LEVELS, this.#follower(this.#levels));
    await objects.follow(SCHEMAS, this.#follower(this.#schemas));
    this.#requests = requests;
    this.#reconcile();
    await this.#reconciling;
  }

  classify(request: FlowRequest): Flow {
    return this.fairness.classify(request);
  }

  admit(request: FlowRequest, flow: Flow | undefined, options?: AdmitOptions): Seat | Promise<Seat> {
    return this.fairness.admit(request, flow ?? this.classify(request), options);
  }

  bodyOwner(request: FlowRequest, flow: Flow = this.classify(request)): BodyOwner {
    const { level, key } = flow;
    return { level: level.name, share: this.fairness.shareOf(level), flow: key, isExempt: level.isExempt };
  }

  close(): void {
    this.#closed.abort();
    this.fairness.close();
  }

  #follower<T extends KubeObject>(objects: Map<string, T>): Follower {
    const changed = () => {
      this.fairness.changed();
      if (this.#requests !== undefined) this.#reconcile();
    };
    return {
      put(object) {
        objects.set(object.metadata.name, object as T);
        changed();
      },
      remove({ metadata: { name } }) {
        objects.delete(name);
        changed();
      },
      reset() {
        objects.clear();
        changed();
      },
    };
  }

  /** One pass at a time; a change during a pass triggers another one. */
  #reconcile(): void {
    this.#isDirty = true;
    this.#reconciling ??= this.#reconcileWhileDirty().finally(() => (this.#reconciling = undefined));
  }

  async #reconcileWhileDirty(): Promise<void> {
    while (this.#isDirty && !this.#closed.signal.aborted) {
      this.#isDirty = false;
      const isDone = await Promise.all(this.#danglingWrites());
      if (isDone.every((done) => done)) continue;
      this.#retryLater();
      return;
    }
  }

  /** Resolves to false if a write must be retried. */
  #danglingWrites(): readonly Promise<boolean>[] {
    const levels = usableLevelNames(this.#levels.values());
    const writes: Promise<boolean>[] = [];
    for (const schema of this.#schemas.values()) {
      const condition = danglingCondition(schema, levels);
      if (!isSameCondition(schema, condition)) writes.push(this.#write(schema, condition));
    }
    return writes;
  }

  async #write({ apiVersion, kind, metadata: { name } }: FlowSchema, condition: ReturnType<typeof danglingCondition>): Promise<boolean> {
    const { clock, log } = this.#server;
    if (!this.#mayWrite(name)) return false;
    const lastTransitionTime = formatTime(clock.now());
    const status = { conditions: [{ ...condition, lastTransitionTime }] };
    try {
      await this.#requests?.apply(SCHEMA_PLACE, { apiVersion, kind, metadata: { name }, status } as KubeObject, FIELD_MANAGER, "status");
    } catch (error) {
      // Deleted meanwhile: the follower receives the event.
      if (isReason(error, "NotFound")) return true;
      if (!this.#closed.signal.aborted)
        log.warn(`Writing the condition Dangling of FlowSchema ${name} failed: ${String(error)}; retrying later`);
      return false;
    }
    return true;
  }

  #mayWrite(name: string): boolean {
    const nowMs = this.#server.clock.monotonic();
    const recent = (this.#writes.get(name) ?? []).filter((writtenMs) => nowMs - writtenMs < MINUTE_MS);
    for (const known of this.#writes.keys()) if (!this.#schemas.has(known)) this.#writes.delete(known);
    this.#writes.set(name, recent);
    if (recent.length >= WRITES_PER_MINUTE_MAX) return false;
    recent.push(nowMs);
    return true;
  }

  #retryLater(): void {
    const { clock, random } = this.#server;
    clock.sleep(RETRY_MS_MIN + random.fraction() * RETRY_JITTER_MS, this.#closed.signal).then(
      () => this.#reconcile(),
      () => undefined, // The server is stopping.
    );
  }
}
