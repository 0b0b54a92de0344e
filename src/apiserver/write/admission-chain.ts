/** Calls the admission plugins in their order, combines their charges, and measures them. The contract is framework/admission.ts. */
import type { KubeObject } from "../../api/machinery/object.ts";
import type { Clock } from "../../base/clock.ts";
import { changedFields } from "../../explain/changed-fields.ts";
import type { AdmissionMetrics, ObserveDuration } from "../framework/admission/admission-metrics.ts";
import type { MaybePromise } from "../framework/authentication.ts";
import type { Admission, AdmissionPlugin, AdmissionRequest, Charge, Reinvocation } from "../framework/admission.ts";

export interface AdmissionChainOptions {
  readonly metrics: AdmissionMetrics;
  readonly clock: Clock;
}

export class AdmissionChain implements Admission {
  readonly #plugins: readonly AdmissionPlugin[];
  readonly #mutating: TimedPlugins;
  readonly #mutatingDelete: TimedPlugins;
  readonly #validating: TimedPlugins;

  constructor(plugins: readonly AdmissionPlugin[], options: AdmissionChainOptions) {
    const timed = (type: "admit" | "validate", member: "mutate" | "mutateDelete" | "validate") =>
      new TimedPlugins(
        plugins.filter((plugin) => plugin[member] !== undefined),
        { ...options, type },
      );
    this.#plugins = plugins;
    this.#mutating = timed("admit", "mutate");
    this.#mutatingDelete = timed("admit", "mutateDelete");
    this.#validating = timed("validate", "validate");
  }

  mutate(request: AdmissionRequest, object: KubeObject): MaybePromise<KubeObject> {
    // An update that lost a race is admitted again.
    if (request.context.trail !== undefined) request.context.trail.steps = undefined;
    return this.#mutating.step(request, () => {
      const rounds = new Rounds();
      const once = this.#mutateOnce({ ...request, object, reinvocation: rounds });
      return once instanceof Promise ? once.then((first) => this.#mutateAgain(first, rounds)) : this.#mutateAgain(once, rounds);
    });
  }

  #mutateAgain(once: MutatedRequest, rounds: Rounds): MaybePromise<KubeObject> {
    if (!rounds.isRequired) return once.object;
    rounds.isSecondRound = true;
    const again = this.#mutateOnce(once);
    return again instanceof Promise ? again.then(({ object }) => object) : again.object;
  }

  #mutateOnce(request: MutatedRequest): MaybePromise<MutatedRequest> {
    let current = request;
    const { trail } = request.context;
    const take = (plugin: AdmissionPlugin, changed: KubeObject | undefined): void => {
      if (changed === undefined) return;
      if (trail !== undefined) (trail.steps ??= []).push({ plugin: plugin.name, changed: changedFields(current.object, changed) });
      current = { ...current, object: changed };
    };
    const calling = this.#mutating.call(request, (plugin) => {
      const answer = plugin.mutate?.(current);
      return answer instanceof Promise ? answer.then((changed) => take(plugin, changed)) : take(plugin, answer);
    });
    return calling instanceof Promise ? calling.then(() => current) : current;
  }

  /** If one plugin rejects, the charges of the others are refunded. */
  async validate(request: AdmissionRequest): Promise<Charge> {
    const { operation } = request;
    if (operation === "DELETE") {
      await this.#mutatingDelete.step(request, () => this.#mutatingDelete.call(request, (plugin) => plugin.mutateDelete?.(request)));
    }
    const charges: Charge[] = [];
    const take = (charge: Charge | void): void => void (charge === undefined || charges.push(charge));
    const validateOne = (plugin: AdmissionPlugin) => {
      const answer = plugin.validate?.(request);
      return answer instanceof Promise ? answer.then(take) : take(answer);
    };
    try {
      const validating = this.#validating.step(request, () => this.#validating.call(request, validateOne));
      if (validating instanceof Promise) await validating;
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

type CallPlugin = (plugin: AdmissionPlugin) => MaybePromise<void>;

type MutatedRequest = AdmissionRequest & { readonly object: KubeObject };

/** Plugins of one step, and how long each of them and all together take. */
class TimedPlugins {
  readonly #plugins: readonly AdmissionPlugin[];
  readonly #options: AdmissionChainOptions & { readonly type: "admit" | "validate" };
  readonly #observers = new Map<string, { readonly step: ObserveDuration; readonly plugins: readonly ObserveDuration[] }>();

  constructor(plugins: readonly AdmissionPlugin[], options: AdmissionChainOptions & { readonly type: "admit" | "validate" }) {
    this.#plugins = plugins;
    this.#options = options;
  }

  step<T>({ operation, context }: AdmissionRequest, work: () => MaybePromise<T>): MaybePromise<T> {
    const { clock } = this.#options;
    const { step } = this.#observersOf(operation);
    const startMs = clock.monotonic();
    const over = (isRejected: boolean): void => {
      const endMs = clock.monotonic();
      context.trail?.admitted(startMs, endMs);
      step(endMs - startMs, isRejected);
    };
    let result: MaybePromise<T>;
    try {
      result = work();
    } catch (error) {
      over(true);
      throw error;
    }
    if (result instanceof Promise) {
      void result.then(
        () => over(false),
        () => over(true),
      );
    } else over(false);
    return result;
  }

  /** Hot path: most plugins ignore most requests; then nothing is awaited, and there is no promise. */
  call(request: AdmissionRequest, callOne: CallPlugin, from = 0): MaybePromise<void> {
    const { clock } = this.#options;
    const observers = this.#observersOf(request.operation).plugins;
    let startMs = clock.monotonic();
    for (let index = from; index < this.#plugins.length; index++) {
      const plugin = this.#plugins[index] as AdmissionPlugin;
      let isRejected = true;
      let answer: MaybePromise<void>;
      try {
        answer = callOne(plugin);
        isRejected = false;
      } finally {
        if (isRejected) this.#called(request, index, { startMs, isRejected });
      }
      if (answer instanceof Promise) return this.#continue(answer, { request, callOne, index, startMs });
      const endMs = clock.monotonic();
      observers[index]?.(endMs - startMs, false);
      startMs = endMs;
    }
  }

  /** After a plugin that has to wait. */
  async #continue(
    answer: Promise<void>,
    { request, callOne, index, startMs }: { request: AdmissionRequest; callOne: CallPlugin; index: number; startMs: number },
  ): Promise<void> {
    let isRejected = true;
    try {
      await answer;
      isRejected = false;
    } finally {
      this.#called(request, index, { startMs, isRejected });
    }
    await this.call(request, callOne, index + 1);
  }

  #called({ operation, context }: AdmissionRequest, index: number, call: { readonly startMs: number; readonly isRejected: boolean }): void {
    const { startMs, isRejected } = call;
    if (isRejected && context.trail !== undefined) context.trail.refusedBy = this.#plugins[index]?.name;
    this.#observersOf(operation).plugins[index]?.(this.#options.clock.monotonic() - startMs, isRejected);
  }

  #observersOf(operation: string) {
    const known = this.#observers.get(operation);
    if (known !== undefined) return known;
    const { metrics, type } = this.#options;
    const plugins = this.#plugins.map(({ name }) => metrics.observerOf({ name, type, operation }));
    const made = { step: metrics.observerOf({ type, operation }), plugins };
    this.#observers.set(operation, made);
    return made;
  }
}

class Rounds implements Reinvocation {
  isSecondRound = false;
  isRequired = false;
  readonly state = new Map<string, unknown>();

  invokeAgain(): void {
    this.isRequired = true;
  }
}

const NO_CHARGE: Charge = { settle() {} };

async function settleAll(charges: readonly Charge[], written: boolean): Promise<void> {
  for (const charge of charges) await charge.settle(written);
}
