/**
 * The contract of admission: what may change or refuse a write after it was allowed and before it is validated and stored.
 * One folder or file per plugin, which know nothing of each other; all.ts lists them in order.
 */
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import type { Operation, Store } from "../../store/store.ts";
import type { AdmissionConfig } from "./admission-config.ts";
import type { Authorizer } from "./authorization.ts";
import type { Causes } from "./causes.ts";
import type { Endpoint, Endpoints } from "./endpoints.ts";
import type { Objects } from "./objects.ts";
import type { RequestContext } from "./request.ts";

export interface AdmissionRequest {
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  readonly endpoint: Endpoint;
  readonly subresource: string;
  readonly namespace: string;
  /** "" if the server will make it from generateName, and for a collection. */
  readonly name: string;
  /** In the version of the request. Absent for DELETE. For CONNECT: the options (PodExecOptions), which have no metadata. */
  readonly object?: KubeObject;
  /** What is there now, in the version of the request. Absent for CREATE and CONNECT. */
  readonly oldObject?: KubeObject;
  readonly dryRun: boolean;
  readonly context: RequestContext;
}

export interface AdmissionPlugin {
  /** As upstream's flags name it: "NamespaceLifecycle". */
  readonly name: string;
  /** Called in order before validation. Returns the changed object, or undefined if it stays as it is; throws a StatusError to refuse. */
  mutate?(request: AdmissionRequest): Promise<KubeObject | undefined> | KubeObject | undefined;
  /** Called in order after validation. Throws a StatusError to refuse. Returns what the write costs, if it costs something. */
  validate?(request: AdmissionRequest): Promise<Charge | void> | Charge | void;
  /** Resolves when it knows what it decides by. Called once, before the first request from outside. */
  start?(): Promise<void>;
}

/** What a write takes from something that is limited (a quota), and gives back if it does not happen. */
export interface Charge {
  /**
   * Written with the object or not at all. Of other kinds than the object's, and one object of a kind at most: a commit has one
   * revision. If only these fail, somebody else was first, and the whole request is worked out again: mutating, validating, charging.
   */
  readonly alongside?: readonly Operation[];
  /** Called exactly once, when it is known whether the write happened. Never with true in a dry run. */
  settle(written: boolean): Promise<void> | void;
}

/** What plugins may look at. */
export interface AdmissionDependencies {
  readonly endpoints: Endpoints;
  readonly objects: Objects;
  /** For plugins that ask whether the user may do something else, too. */
  readonly authorizer: Authorizer;
  readonly config: AdmissionConfig;
  readonly store: Store;
  /** Where a plugin that commits an object by itself records it. */
  readonly causes: Causes;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export type AdmissionPluginFactory = (dependencies: AdmissionDependencies) => AdmissionPlugin;

export class AdmissionChain {
  readonly #plugins: readonly AdmissionPlugin[];
  readonly #mutating: readonly AdmissionPlugin[];
  readonly #validating: readonly AdmissionPlugin[];

  constructor(plugins: readonly AdmissionPlugin[]) {
    this.#plugins = plugins;
    this.#mutating = plugins.filter((plugin) => plugin.mutate !== undefined);
    this.#validating = plugins.filter((plugin) => plugin.validate !== undefined);
  }

  async mutate(request: AdmissionRequest, object: KubeObject): Promise<KubeObject> {
    let current: AdmissionRequest & { readonly object: KubeObject } = { ...request, object };
    for (const plugin of this.#mutating) {
      // Most have nothing to say about most requests, and nothing is waited for then.
      const answer = plugin.mutate?.(current);
      const changed = answer instanceof Promise ? await answer : answer;
      if (changed !== undefined) current = { ...current, object: changed };
    }
    return current.object;
  }

  /** If one of them refuses, what others have charged is given back. */
  async validate(request: AdmissionRequest): Promise<Charge> {
    const charges: Charge[] = [];
    try {
      for (const plugin of this.#validating) {
        const answer = plugin.validate?.(request);
        const charge = answer instanceof Promise ? await answer : answer;
        if (charge !== undefined) charges.push(charge);
      }
    } catch (error) {
      await settleAll(charges, false);
      throw error;
    }
    if (charges.length === 0) return NO_CHARGE;
    return { alongside: charges.flatMap(({ alongside = [] }) => alongside), settle: (written) => settleAll(charges, written) };
  }

  async start(): Promise<void> {
    for (const plugin of this.#plugins) await plugin.start?.();
  }
}

const NO_CHARGE: Charge = { settle() {} };

async function settleAll(charges: readonly Charge[], written: boolean): Promise<void> {
  for (const charge of charges) await charge.settle(written);
}
