/** Amounts by quota resource name ("requests.cpu", "count/pods"): sums, differences and comparison with limits. */
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  isZero,
  quantityOf,
  signOf,
  subtractQuantities,
  type Quantity,
} from "../../../machinery/quantity.ts";
import { readQuantity, type ResourceList } from "../pod/resource-list.ts";

export type Amounts = ReadonlyMap<string, Quantity>;

export const ONE = quantityOf(1);
export const ZERO = quantityOf(0);

export function amountsOf(list: ResourceList = {}): Amounts {
  return new Map(Object.entries(list).map(([name, text]) => [name, readQuantity(text)]));
}

/** Sorted by name. */
export function listOf(amounts: Amounts): ResourceList {
  const entries = [...amounts].map(([name, quantity]) => [name, formatQuantity(quantity)] as const);
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

export function addAmounts(a: Amounts, b: Amounts): Amounts {
  const sum = new Map(a);
  for (const [name, quantity] of b) {
    const before = sum.get(name);
    sum.set(name, before === undefined ? quantity : addQuantities(before, quantity));
  }
  return sum;
}

/** `a` minus `b`. */
export function excessOf(a: Amounts, b: Amounts): Amounts {
  const excess = new Map<string, Quantity>();
  for (const [name, quantity] of a) {
    const other = b.get(name);
    const more = other === undefined ? quantity : subtractQuantities(quantity, other);
    if (signOf(more) > 0) excess.set(name, more);
  }
  return excess;
}

export function onlyNamed(amounts: Amounts, names: Iterable<string>): Amounts {
  const kept = new Map<string, Quantity>();
  for (const name of names) {
    const quantity = amounts.get(name);
    if (quantity !== undefined) kept.set(name, quantity);
  }
  return kept;
}

export function withoutZeros(amounts: Amounts): Amounts {
  return new Map([...amounts].filter(([, quantity]) => !isZero(quantity)));
}

/** True for the same names with equal amounts, in any spelling. */
export function areSameLists(a: ResourceList = {}, b: ResourceList = {}): boolean {
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => {
    const [left, right] = [a[name], b[name]];
    if (left === undefined || right === undefined) return false;
    return left === right || compareQuantities(readQuantity(left), readQuantity(right)) === 0;
  });
}

/** The names whose amount exceeds the limit. */
export function namesAbove(amounts: Amounts, limits: Amounts): readonly string[] {
  return [...amounts].flatMap(([name, quantity]) => {
    const limit = limits.get(name);
    return limit !== undefined && compareQuantities(quantity, limit) > 0 ? [name] : [];
  });
}

/** "cpu=1,pods=2", the format of messages. */
export function shownAmounts(amounts: Amounts): string {
  return Object.entries(listOf(amounts))
    .map(([name, text]) => `${name}=${text}`)
    .join(",");
}
