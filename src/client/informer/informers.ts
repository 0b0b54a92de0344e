/** The informers of a program: one per kind and scope, begun when somebody first asks for it, ended together. */
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
  readonly ended: Promise<void>;
}

class RunningInformers implements Informers {
  readonly #options: InformersOptions;
  readonly #running = new Map<string, Running>();
  /** Those without a scope, by the value that was asked with: making a text of it at each read would cost more than the read. */
  readonly #byKind = new WeakMap<ResourceKind, Running>();
  readonly #stop = new AbortController();

  constructor(options: InformersOptions) {
    this.#options = options;
  }

  of<T extends KubeObject>(kind: ResourceKind<T>, scope: InformerScope = {}): Informer<T> {
    assert(!this.#stop.signal.aborted, "nothing is begun after the informers were closed");
    const key = keyOf(kind, scope);
    let running = this.#running.get(key);
    if (running === undefined) this.#running.set(key, (running = this.#start(kind, scope)));
    return running.informer as Informer as Informer<T>;
  }

  running<T extends KubeObject>(kind: ResourceKind<T>): Informer<T> | undefined {
    let running = this.#byKind.get(kind as ResourceKind);
    if (running === undefined) {
      running = this.#running.get(keyOf(kind, {}));
      if (running !== undefined) this.#byKind.set(kind as ResourceKind, running);
    }
    return running?.informer as Informer | undefined as Informer<T> | undefined;
  }

  async close(): Promise<void> {
    const all = [...this.#running.values()];
    for (const { informer } of all) informer.close();
    this.#stop.abort();
    await Promise.all(all.map(({ ended }) => ended));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #start(kind: ResourceKind, scope: InformerScope): Running {
    const { transport, clock, random } = this.#options;
    const log = this.#options.log.with({ informer: keyOf(kind, scope) });
    const informer = new SharedInformer(kind, { clock, log });
    const reflector = new Reflector({ transport, clock, random: random.derive(keyOf(kind, scope)), log, kind, scope, sink: informer });
    return { informer, ended: reflector.run(this.#stop.signal) };
  }
}

/** "apps/v1/deployments", and the scope if there is one: two values for one kind are one kind. */
function keyOf({ storage: { group, version }, plural }: Pick<ResourceKind, "storage" | "plural">, scope: InformerScope): string {
  const { namespace = "", labelSelector = "", fieldSelector = "" } = scope;
  const name = `${group}/${version}/${plural}`;
  if (namespace === "" && labelSelector === "" && fieldSelector === "") return name;
  return `${name} ${JSON.stringify({ namespace, labelSelector, fieldSelector })}`;
}
