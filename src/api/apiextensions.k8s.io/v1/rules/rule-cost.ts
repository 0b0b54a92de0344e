/**
 * Limits of the estimated cost of validation rules, with upstream's figures and messages: of one expression, and of all rules of a schema.
 * A rule of a list's items is evaluated once per item, so its cost counts as often as items can occur.
 */
import { forbidden, type FieldError } from "../../../machinery/field-error.ts";
import { REQUEST_SIZE_MAX } from "../../../../cel/contract.ts";
import { additionalPropertiesOf, type JsonSchema } from "../schema/json-schema.ts";

/** Maximum estimated cost of one expression, about one second. */
const EXPRESSION_COST_MAX = 10_000_000n;
/** Maximum estimated cost of all rules of a schema. */
const TOTAL_COST_MAX = 100_000_000n;
/** Rules below this share of the total are not named when the total is exceeded. */
const NAMED_COST_MIN = TOTAL_COST_MAX / 100n;
const NAMED_RULES_MAX = 4;
const UNBOUNDED_COST = 2n ** 64n - 1n;

/** Costs of all rules of one schema. */
export class TotalCost {
  #total = 0n;
  #most: { readonly at: string; readonly cost: bigint }[] = [];

  /** Adds the cost of an expression, and returns the error if it costs too much on its own. */
  add(at: string, cost: bigint, { what, isLimited }: { readonly what: string; readonly isLimited: boolean }): FieldError | undefined {
    this.#total = limited(this.#total + cost);
    if (cost >= NAMED_COST_MIN) {
      this.#most.push({ at, cost });
      this.#most = this.#most.toSorted((a, b) => (a.cost > b.cost ? -1 : 1)).slice(0, NAMED_RULES_MAX);
    }
    return isLimited && cost > EXPRESSION_COST_MAX ? forbidden(at, costMessage(what, cost, EXPRESSION_COST_MAX)) : undefined;
  }

  /** `at`: that of the schema. */
  *errors(at: string): Iterable<FieldError> {
    if (this.#total <= TOTAL_COST_MAX) return;
    for (const { at: ruleAt } of this.#most) {
      yield forbidden(ruleAt, "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema");
    }
    const what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
    yield forbidden(at, costMessage(what, this.#total, TOTAL_COST_MAX));
  }
}

function limited(cost: bigint): bigint {
  return cost > UNBOUNDED_COST ? UNBOUNDED_COST : cost;
}

function costMessage(what: string, cost: bigint, max: bigint): string {
  const factor = Number(cost) / Number(max);
  // More precisely, "a factor of 1.0" would look like no excess.
  const shown = factor > 100 ? "more than 100x" : factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`;
  return `${what} exceeds budget by factor of ${shown} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
}

/**
 * The cost of an expression in all values that the schema can have. `ancestry` is from the root to the schema; without limits on the way
 * the size of a request is the limit.
 */
export function costOfAll(cost: bigint, ancestry: readonly JsonSchema[], minSerializedSize: number): bigint {
  const count = countOf(ancestry.slice(0, -1)) ?? BigInt(Math.floor(REQUEST_SIZE_MAX / (minSerializedSize + 1)));
  return limited(cost * count);
}

/** How often the innermost schema can occur; undefined: unlimited. */
function countOf(ancestors: readonly JsonSchema[]): bigint | undefined {
  let count = 1n;
  for (const schema of ancestors) {
    const elements = elementsOf(schema);
    if (elements === undefined) return undefined;
    count = limited(count * elements);
  }
  return count;
}

function elementsOf(schema: JsonSchema): bigint | undefined {
  const { type, maxItems, maxProperties } = schema;
  const max = type === "array" ? maxItems : type === "object" && additionalPropertiesOf(schema) !== undefined ? maxProperties : 1;
  return max === undefined ? undefined : BigInt(Math.max(0, max));
}
