/** The informers of a program: one per kind and scope, started on first use, stopped one by one or together. */
import { NOT_NEEDED } from "../../base/abort.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import type { Transport } from "../../api/machinery/transport.ts";
import { assert } from "../../base/assert.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import type { ResourceKind } from "../client.ts";
import type { Informer, Informers, InformerScope } from "./informer.ts";
import { Reflector } from "./reflector.ts";
import { SharedInformer } from "./shared-informer.ts";

export interface InformersOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export function createInformers(options: InformersOptions): Informers {
  return new RunningInformers(options);
}

interface Running {
  readonly informer: SharedInformer<KubeObject>;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

class RunningInformers implements Informers {
  readonly #options: InformersOptions;
  readonly #running = new Map<string, Running>();
  /** Informers without a scope, by the kind value itself: building a key string per read would cost more than the read. */
  #byKind = new WeakMap<ResourceKind, Running>();
  readonly #ending = new Set<Promise<void>>();
  #isClosed = false;

  constructor(options: InformersOptions) {
    this.#options = options;
  }

  get clock(): Clock {
    return this.#options.clock;
  }

  of<T extends KubeObject>(kind: ResourceKind<T>, scope: InformerScope = {}): Informer<T> {
    assert(!this.#isClosed, "nothing is begun after the informers were closed");
    const key = keyOf(kind, scope);
    let running = this.#running.get(key);
    if (running === undefined) this.#running.set(key, (running = this.#start(kind, scope)));
    return running.informer as Informer as Informer<T>;
  }

  running<T extends KubeObject>(kind: ResourceKind<T>): Informer<T> | undefined {
    let running = this.#byKind.get(kind);
    if (running === undefined) {
      running = this.#running.get(keyOf(kind, {}));
      if (running !== undefined) this.#byKind.set(kind, running);
    }
    return running?.informer as Informer | undefined as Informer<T> | undefined;
  }

  async end<T extends KubeObject>(kind: ResourceKind<T>, scope: InformerScope = {}): Promise<void> {
    await this.#end(keyOf(kind, scope));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const key of [...this.#running.keys()]) void this.#end(key);
    await Promise.all(this.#ending);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #start(kind: ResourceKind, scope: InformerScope): Running {
    const { transport, clock, random } = this.#options;
    const log = this.#options.log.with({ informer: keyOf(kind, scope) });
    const informer = new SharedInformer(kind, { clock, log });
    const reflector = new Reflector({ transport, clock, random: random.derive(keyOf(kind, scope)), log, kind, scope, sink: informer });
    const stop = new AbortController();
    return { informer, stop, ended: reflector.run(stop.signal) };
  }

  /** Never rejects. */
  async #end(key: string): Promise<void> {
    const running = this.#running.get(key);
    if (running === undefined) return;
    this.#running.delete(key);
    // The values that denote this kind are unknown, and all are soon looked up again.
    this.#byKind = new WeakMap();
    running.informer.close();
    running.stop.abort(NOT_NEEDED);
    this.#ending.add(running.ended);
    await running.ended;
    this.#ending.delete(running.ended);
  }
}

/** "apps/v1/deployments", and the scope if there is one: two values for one kind are one kind. */
function keyOf({ storage: { group, version }, plural }: Pick<ResourceKind, "storage" | "plural">, scope: InformerScope): string {
  const { namespace = "", labelSelector = "", fieldSelector = "" } = scope;
  const name = `${group}/${version}/${plural}`;
  if (namespace === "" && labelSelector === "" && fieldSelector === "") return name;
  return `${name} ${JSON.stringify({ namespace, labelSelector, fieldSelector })}`;
}
