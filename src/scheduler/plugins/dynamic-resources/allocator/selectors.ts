/**
 * Evaluates device selectors. Expressions are compiled once, and results are cached per slice: a slice is immutable, so that scheduling
 * thousands of Pods evaluates an expression once per device. Each evaluation is limited by the cost limit of device expressions.
 */
import type { DeviceSelector, ResourceSlice } from "../../../../api/generated/resource.k8s.io/v1.ts";
import { compileDeviceExpression } from "../../../../api/resource.k8s.io/v1/device-expressions.ts";
import { Lru } from "../../../../base/lru.ts";
import type { Compilation } from "../../../../cel/contract.ts";
import { CelError, type MapValue } from "../../../../cel/values/value.ts";
import { deviceValue } from "./device-value.ts";
import { AllocationError } from "./model.ts";

/** Maximum compiled expressions kept. A cluster has a handful of device classes and some selectors in claims. */
const COMPILED_MAX = 1_000;
/** Maximum expressions whose results are kept per slice: clients that write a new expression in every claim must not fill the memory. */
const RESULTS_PER_SLICE_MAX = 64;

const UNKNOWN = 0;
const MATCHES = 1;
const DIFFERS = 2;

/** What is kept of a slice, as long as the slice is. */
interface OfSlice {
  readonly values: (MapValue | CelError | undefined)[];
  /** By expression: one byte per device. */
  readonly results: Map<string, Uint8Array>;
}

export class DeviceSelectors {
  readonly #compiled = new Lru<string, Compilation>({ max: COMPILED_MAX });
  readonly #slices = new WeakMap<ResourceSlice, OfSlice>();

  /** Whether all selectors match a device. `owner` names their object in errors: "class gpu" or "claim default/gpu". */
  match(selectors: readonly DeviceSelector[], slice: ResourceSlice, deviceIndex: number, owner: string): boolean {
    for (const [index, { cel }] of selectors.entries()) {
      const { expression = "" } = cel ?? {};
      if (!this.#matches(expression, slice, deviceIndex, `${owner}: selector #${index}`)) return false;
    }
    return true;
  }

  #matches(expression: string, slice: ResourceSlice, deviceIndex: number, at: string): boolean {
    const ofSlice = this.#ofSlice(slice);
    let results = ofSlice.results.get(expression);
    if (results === undefined) {
      if (ofSlice.results.size >= RESULTS_PER_SLICE_MAX) ofSlice.results.clear();
      results = new Uint8Array(ofSlice.values.length);
      ofSlice.results.set(expression, results);
    }
    const known = results[deviceIndex] ?? UNKNOWN;
    if (known !== UNKNOWN) return known === MATCHES;
    const matches = this.#evaluate(expression, slice, deviceIndex, at);
    results[deviceIndex] = matches ? MATCHES : DIFFERS;
    return matches;
  }

  /** Throws an AllocationError: a selector that fails cannot be treated as "no match". */
  #evaluate(expression: string, slice: ResourceSlice, deviceIndex: number, at: string): boolean {
    const compilation = this.#compile(expression);
    if (!compilation.ok) throw new AllocationError(`${at}: CEL compile error: compilation failed: ${compilation.message}`);
    const device = this.#deviceValue(slice, deviceIndex);
    const fail = (message: string): never => {
      throw new AllocationError(`${at}: CEL runtime error: ${message}`);
    };
    if (device instanceof CelError) return fail(device.message);
    const evaluation = compilation.program.evaluate({ device });
    if (!evaluation.ok) return fail(evaluation.error.message);
    if (typeof evaluation.value !== "boolean") return fail("CEL result could not be converted to bool");
    return evaluation.value;
  }

  #compile(expression: string): Compilation {
    const known = this.#compiled.get(expression);
    if (known !== undefined) return known;
    const compilation = compileDeviceExpression(expression);
    this.#compiled.set(expression, compilation);
    return compilation;
  }

  #deviceValue(slice: ResourceSlice, deviceIndex: number): MapValue | CelError {
    const { values } = this.#ofSlice(slice);
    const device = slice.spec.devices?.[deviceIndex] ?? { name: "" };
    return (values[deviceIndex] ??= deviceValue(slice.spec.driver, device));
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
