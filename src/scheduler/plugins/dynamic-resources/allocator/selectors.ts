/**
 * Evaluates device selectors. Expressions are compiled once, and results are cached per slice: a slice is immutable, so that scheduling
 * thousands of Pods evaluates an expression once per device.
 *
 * A scheduling attempt is synchronous, and evaluates for about 10 ms at most: ordinary selectors of thousands of devices. What takes longer
 * is evaluated in the background, in slices of the event loop, for all devices of the slice; the Pod is then attempted again.
 */
import type { DeviceSelector, ResourceSlice } from "../../../../api/generated/resource.k8s.io/v1.ts";
import { compileDeviceExpression, compileDeviceExpressionQuickly } from "../../../../api/resource.k8s.io/v1/device-expressions.ts";
import { Fifo } from "../../../../base/fifo.ts";
import { Lru } from "../../../../base/lru.ts";
import type { Compilation, Evaluation } from "../../../../cel/contract.ts";
import { beginTick, isTickSpent } from "../../../../cel/values/meter.ts";
import { CelError, type MapValue } from "../../../../cel/values/value.ts";
import { deviceValue } from "./device-value.ts";
import { AllocationError, SelectorsPending } from "./model.ts";

/** Maximum compiled expressions kept. A cluster has a handful of device classes and some selectors in claims. */
const COMPILED_MAX = 1_000;
/** Maximum results kept, each of one expression for one slice, about 300 bytes: new expressions in every claim must not fill the memory. */
const RESULTS_MAX = 200_000;
/** Maximum results to be evaluated in the background. A Pod that needs more is attempted again when these are known. */
const PENDING_MAX = 10_000;

const UNKNOWN = 0;
const MATCHES = 1;
const DIFFERS = 2;
const FAILS = 3;

/** Results of one expression for the devices of a slice. */
interface Results {
  /** One per device. */
  readonly outcomes: Uint8Array;
  /** Messages of devices for which the expression fails. */
  readonly failures: Map<number, string>;
  isPending: boolean;
}

/** What is kept of a slice, as long as the slice is. */
interface OfSlice {
  readonly values: (MapValue | CelError | undefined)[];
  /** By expression. */
  readonly results: Map<string, Results>;
}

interface PendingResults {
  readonly expression: string;
  readonly slice: ResourceSlice;
  readonly results: Results;
}

/** Whether the device matches, or the error. */
type Outcome = boolean | string;

export class DeviceSelectors {
  readonly #runInBackground: (work: Iterator<void>) => void;
  readonly #compiled = new Lru<string, Compilation>({ max: COMPILED_MAX });
  #slices = new WeakMap<ResourceSlice, OfSlice>();
  #resultsCount = 0;
  readonly #pending = new Fifo<PendingResults>();
  /** How many were ever pending, and how many of them are evaluated. */
  #pendingCount = 0;
  #evaluatedCount = 0;
  /** By the uid of the Pod, in the order in which they are called: after as many evaluations. */
  readonly #waiting = new Map<string, { readonly after: number; readonly retry: () => void }>();

  /** `runInBackground` runs every step of the work in an event-loop tick of its own. */
  constructor(runInBackground: (work: Iterator<void>) => void) {
    this.#runInBackground = runInBackground;
  }

  /** Called before an attempt: its evaluations have a tick of their own. */
  beginAttempt(): void {
    beginTick();
  }

  /**
   * Whether all selectors match a device. `owner` names their object in errors: "class gpu" or "claim default/gpu". Throws SelectorsPending
   * if this attempt cannot know it.
   */
  match(selectors: readonly DeviceSelector[], slice: ResourceSlice, deviceIndex: number, owner: string): boolean {
    for (const [index, { cel }] of selectors.entries()) {
      const { expression = "" } = cel ?? {};
      if (!this.#matches(expression, slice, deviceIndex, `${owner}: selector #${index}`)) return false;
    }
    return true;
  }

  /** Calls `retry` when all that is pending now is evaluated; once per Pod. */
  whenEvaluated(podUid: string, retry: () => void): void {
    this.#waiting.delete(podUid);
    this.#waiting.set(podUid, { after: this.#pendingCount, retry });
  }

  /** Throws an AllocationError: a selector that fails cannot be treated as "no match". */
  #matches(expression: string, slice: ResourceSlice, deviceIndex: number, at: string): boolean {
    const results = this.#resultsOf(expression, slice);
    let known = results.outcomes[deviceIndex] ?? UNKNOWN;
    if (known === UNKNOWN) {
      const outcome = results.isPending ? undefined : this.#evaluateNow(expression, slice, deviceIndex);
      if (outcome === undefined) throw this.#suspended({ expression, slice, results });
      known = record(results, deviceIndex, outcome);
    }
    if (known === FAILS) throw new AllocationError(`${at}: ${results.failures.get(deviceIndex) ?? ""}`);
    return known === MATCHES;
  }

  /** Undefined if it takes longer than an attempt may. */
  #evaluateNow(expression: string, slice: ResourceSlice, deviceIndex: number): Outcome | undefined {
    if (isTickSpent()) return undefined;
    const compilation = this.#compileNow(expression);
    if (compilation === undefined) return undefined;
    if (!compilation.ok) return compileFailure(compilation.message);
    const device = this.#deviceValue(slice, deviceIndex);
    if (device instanceof CelError) return runtimeFailure(device.message);
    const evaluation = compilation.program.start({ device });
    return "resume" in evaluation ? undefined : outcomeOf(evaluation);
  }

  #suspended(pending: PendingResults): SelectorsPending {
    if (!pending.results.isPending && this.#pending.length < PENDING_MAX) {
      pending.results.isPending = true;
      this.#pending.push(pending);
      this.#pendingCount++;
      if (this.#pending.length === 1) this.#runInBackground(this.#evaluateAll());
    }
    return new SelectorsPending("device selectors are being evaluated");
  }

  /** A step ends where the event loop should be yielded. */
  *#evaluateAll(): Generator<void, void> {
    for (let next = this.#pending.peek(); next !== undefined; next = this.#pending.peek()) {
      yield* this.#evaluateSlice(next);
      next.results.isPending = false;
      this.#pending.shift();
      this.#evaluatedCount++;
      this.#retryWaiting();
    }
  }

  *#evaluateSlice({ expression, slice, results }: PendingResults): Generator<void, void> {
    for (let index = 0; index < results.outcomes.length; index++) {
      if (results.outcomes[index] !== UNKNOWN) continue;
      if (isTickSpent()) yield* newTick();
      record(results, index, yield* this.#evaluateSlowly(expression, slice, index));
    }
  }

  *#evaluateSlowly(expression: string, slice: ResourceSlice, deviceIndex: number): Generator<void, Outcome> {
    const compilation = this.#compiled.get(expression) ?? (yield* this.#compileSlowly(expression));
    if (!compilation.ok) return compileFailure(compilation.message);
    const device = this.#deviceValue(slice, deviceIndex);
    if (device instanceof CelError) return runtimeFailure(device.message);
    let evaluation = compilation.program.start({ device });
    while ("resume" in evaluation) {
      yield;
      evaluation = evaluation.resume();
    }
    return outcomeOf(evaluation);
  }

  *#compileSlowly(expression: string): Generator<void, Compilation> {
    yield* newTick();
    const compilation = yield* compileDeviceExpression(expression);
    this.#compiled.set(expression, compilation);
    return compilation;
  }

  #retryWaiting(): void {
    for (const [podUid, { after, retry }] of this.#waiting) {
      if (after > this.#evaluatedCount) return;
      this.#waiting.delete(podUid);
      retry();
    }
  }

  /** Undefined if it takes longer than an attempt may. */
  #compileNow(expression: string): Compilation | undefined {
    const known = this.#compiled.get(expression);
    if (known !== undefined) return known;
    const compilation = compileDeviceExpressionQuickly(expression);
    if (compilation !== undefined) this.#compiled.set(expression, compilation);
    return compilation;
  }

  #deviceValue(slice: ResourceSlice, deviceIndex: number): MapValue | CelError {
    const { values } = this.#ofSlice(slice);
    const device = slice.spec.devices?.[deviceIndex] ?? { name: "" };
    return (values[deviceIndex] ??= deviceValue(slice.spec.driver, device));
  }

  #resultsOf(expression: string, slice: ResourceSlice): Results {
    const known = this.#ofSlice(slice).results.get(expression);
    if (known !== undefined) return known;
    if (++this.#resultsCount > RESULTS_MAX) {
      this.#slices = new WeakMap();
      this.#resultsCount = 1;
    }
    const { values, results } = this.#ofSlice(slice);
    const created = { outcomes: new Uint8Array(values.length), failures: new Map<number, string>(), isPending: false };
    results.set(expression, created);
    return created;
  }

  #ofSlice(slice: ResourceSlice): OfSlice {
    let known = this.#slices.get(slice);
    if (known === undefined) {
      known = { values: Array.from(slice.spec.devices ?? [], () => undefined), results: new Map() };
      this.#slices.set(slice, known);
    }
    return known;
  }
}

function* newTick(): Generator<void, void> {
  yield;
  beginTick();
}

function outcomeOf(evaluation: Evaluation): Outcome {
  if (!evaluation.ok) return runtimeFailure(evaluation.error.message);
  return typeof evaluation.value === "boolean" ? evaluation.value : runtimeFailure("CEL result could not be converted to bool");
}

function compileFailure(message: string): string {
  return `CEL compile error: compilation failed: ${message}`;
}

function runtimeFailure(message: string): string {
  return `CEL runtime error: ${message}`;
}

function record({ outcomes, failures }: Results, deviceIndex: number, outcome: Outcome): number {
  if (typeof outcome === "string") failures.set(deviceIndex, outcome);
  return (outcomes[deviceIndex] = typeof outcome === "string" ? FAILS : outcome ? MATCHES : DIFFERS);
}
