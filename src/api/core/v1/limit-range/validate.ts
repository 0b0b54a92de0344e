/** Validation of a LimitRange: known types, each once; known resources; and satisfiable amounts. */
import type { LimitRangeItem } from "../../../generated/core/v1.ts";
import { child, duplicate, element, forbidden, invalid, required, type FieldError } from "../../../machinery/field-error.ts";
import {
  compareQuantities,
  formatQuantity,
  quantityMilliValue,
  quantityOf,
  quantityToNumber,
  type Quantity,
} from "../../../machinery/quantity.ts";
import { qualifiedName } from "../pod/validation/checks.ts";
import { isOvercommitAllowed, readQuantity, type ResourceList } from "../pod/resource-list.ts";
import { errorsOf } from "../../../machinery/findings.ts";
import { validateContainerResourceName, validateResourceName } from "../pod/validation/resources.ts";

const STANDARD_TYPES: readonly string[] = ["Pod", "Container", "PersistentVolumeClaim"];
const ONE = quantityOf(1);
/** Beyond this, thousandths do not fit an int64, so upstream compares integers. */
const MILLI_VALUE_MAX = (2 ** 63 - 1) / 1000;

export function* validateLimits(limits: readonly LimitRangeItem[]): Iterable<FieldError> {
  const types = new Set<string>();
  for (const [index, item] of limits.entries()) {
    const at = element("spec.limits", index);
    const { type } = item;
    yield* validateType(type, child(at, "type"));
    if (types.has(type)) yield duplicate(child(at, "type"), type);
    types.add(type);
    yield* validateNames(item, at);
    for (const name of namesOf(item)) yield* validateAmounts(amountsOf(item, name), name, at);
  }
}

function* validateType(type: string, at: string): Iterable<FieldError> {
  const problems = qualifiedName(type, at);
  if (problems.length > 0) return yield* problems;
  if (type.includes("/") || STANDARD_TYPES.includes(type)) return;
  yield invalid(at, type, "must be a standard limit type or fully qualified");
}

function* validateNames(item: LimitRangeItem, at: string): Iterable<FieldError> {
  const validate = item.type === "Pod" || item.type === "Container" ? validateContainerResourceName : validateResourceName;
  const validateList = function* (list: keyof Lists): Iterable<FieldError> {
    for (const name of Object.keys(item[list] ?? {})) yield* errorsOf((errors) => validate(errors, name, element(child(at, list), name)));
  };
  yield* validateList("max");
  yield* validateList("min");
  if (item.type === "Pod") {
    for (const list of ["default", "defaultRequest"] as const) {
      if (Object.keys(item[list] ?? {}).length > 0) yield forbidden(child(at, list), "may not be specified when `type` is 'Pod'");
    }
  } else {
    yield* validateList("default");
    yield* validateList("defaultRequest");
  }
  if (item.type === "PersistentVolumeClaim" && item.min?.["storage"] === undefined && item.max?.["storage"] === undefined) {
    yield required(child(at, "limits"), "either minimum or maximum storage value is required, but neither was provided");
  }
  yield* validateList("maxLimitRequestRatio");
}

type Lists = Omit<LimitRangeItem, "type">;

/** A Pod has no defaults: those are rejected above, and not compared. */
function listsOf(item: LimitRangeItem): Lists {
  if (item.type !== "Pod") return item;
  const { default: _default, defaultRequest: _defaultRequest, ...lists } = item;
  return lists;
}

function namesOf(item: LimitRangeItem): Iterable<string> {
  const { max, min, default: limit, defaultRequest, maxLimitRequestRatio } = listsOf(item);
  return new Set([max, min, limit, defaultRequest, maxLimitRequestRatio].flatMap((list) => Object.keys(list ?? {})));
}

/** What an item says about one resource. */
interface Amounts {
  readonly min: Quantity | undefined;
  readonly max: Quantity | undefined;
  readonly limit: Quantity | undefined;
  readonly request: Quantity | undefined;
  readonly ratio: Quantity | undefined;
}

function amountsOf(item: LimitRangeItem, name: string): Amounts {
  const lists = listsOf(item);
  const amount = (list: ResourceList | undefined): Quantity | undefined => {
    const text = list !== undefined && Object.hasOwn(list, name) ? list[name] : undefined;
    return text === undefined ? undefined : readQuantity(text);
  };
  return {
    min: amount(lists.min),
    max: amount(lists.max),
    limit: amount(lists.default),
    request: amount(lists.defaultRequest),
    ratio: amount(lists.maxLimitRequestRatio),
  };
}

/** The quoted value is upstream's choice, also where the other would be expected. */
function* validateAmounts({ min, max, limit, request, ratio }: Amounts, name: string, at: string): Iterable<FieldError> {
  const here = (list: keyof Lists): string => element(child(at, list), name);
  if (isGreater(min, max)) yield wrong(here("min"), min, `min value ${show(min)} is greater than max value ${show(max)}`);
  if (isGreater(min, request)) {
    yield wrong(here("defaultRequest"), request, `min value ${show(min)} is greater than default request value ${show(request)}`);
  }
  if (isGreater(request, max)) {
    yield wrong(here("defaultRequest"), request, `default request value ${show(request)} is greater than max value ${show(max)}`);
  }
  if (isGreater(request, limit)) {
    yield wrong(
      here("defaultRequest"),
      request,
      `default request value ${show(request)} is greater than default limit value ${show(limit)}`,
    );
  }
  if (isGreater(min, limit)) yield wrong(here("default"), min, `min value ${show(min)} is greater than default value ${show(limit)}`);
  if (isGreater(limit, max)) yield wrong(here("default"), max, `default value ${show(limit)} is greater than max value ${show(max)}`);
  if (ratio !== undefined) yield* validateRatio(ratio, { min, max }, here("maxLimitRequestRatio"));
  if (isOvercommitAllowed(name) || limit === undefined || request === undefined || compareQuantities(limit, request) === 0) return;
  const detail = `default value ${show(limit)} must equal to defaultRequest value ${show(request)} in ${name}`;
  yield wrong(here("defaultRequest"), request, detail);
}

function* validateRatio(ratio: Quantity, { min, max }: Pick<Amounts, "min" | "max">, at: string): Iterable<FieldError> {
  if (isGreater(ONE, ratio)) yield wrong(at, ratio, `ratio ${show(ratio)} is less than 1`);
  if (min === undefined || max === undefined) return;
  const isExact = [ratio, min, max].every((quantity) => quantityToNumber(quantity) < MILLI_VALUE_MAX);
  const valueOf = isExact ? quantityMilliValue : quantityToNumber;
  const possible = valueOf(max) / valueOf(min);
  const wanted = isExact ? quantityMilliValue(ratio) / 1000 : quantityToNumber(ratio);
  if (wanted > possible) yield wrong(at, ratio, `ratio ${show(ratio)} is greater than max/min = ${possible.toFixed(6)}`);
}

function isGreater(a: Quantity | undefined, b: Quantity | undefined): boolean {
  return a !== undefined && b !== undefined && compareQuantities(a, b) > 0;
}

function wrong(at: string, value: Quantity | undefined, detail: string): FieldError {
  return invalid(at, show(value), detail);
}

function show(quantity: Quantity | undefined): string {
  return quantity === undefined ? "" : formatQuantity(quantity);
}
