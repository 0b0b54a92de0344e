/**
 * Type inference: what each type parameter stands for, and whether a type can be assigned to another. A failed attempt leaves no trace:
 * bindings are logged and undone.
 */
import { spend } from "../values/meter.ts";
import { DYN, isDyn, isSameType, type CelType } from "../types/type.ts";

/** Parts of one type. Variables of loops could double a type with every macro; upstream has no such limit. */
const TYPE_PARTS_MAX = 2_000;
/** Steps of looking at a part of a type: about 0.5 µs in a process that has compiled little so far. */
const PART_STEPS = 200;

export class TypeTooLarge extends Error {
  override readonly name = "TypeTooLarge";
}

interface Change {
  readonly name: string;
  readonly before: CelType | undefined;
}

export class Substitutions {
  readonly #bound = new Map<string, CelType>();
  readonly #log: Change[] = [];
  /** Not a WeakMap: its entries would cost the garbage collector more than they save, and this object lives for one compilation. */
  readonly #parts = new Map<CelType, number>();

  isAssignable(a: CelType, b: CelType): boolean {
    return this.areAssignable([a], [b]);
  }

  areAssignable(a: readonly CelType[], b: readonly CelType[]): boolean {
    const start = this.#log.length;
    if (this.#listAssignable(a, b)) return true;
    while (this.#log.length > start) {
      const { name, before } = this.#log.pop() as Change;
      if (before === undefined) this.#bound.delete(name);
      else this.#bound.set(name, before);
    }
    return false;
  }

  bind(parameter: CelType, type: CelType): void {
    this.#log.push({ name: parameter.name, before: this.#bound.get(parameter.name) });
    this.#bound.set(parameter.name, type);
  }

  /** The type with bound parameters replaced; `toDyn`: unbound ones too, by dyn. */
  substitute(type: CelType, { toDyn = false } = {}): CelType {
    spend(PART_STEPS);
    if (type.kind === "parameter") {
      const found = this.#bound.get(type.name);
      if (found !== undefined) return this.substitute(found, { toDyn });
      return toDyn ? DYN : type;
    }
    if (type.parameters.length === 0) return type;
    const parameters = type.parameters.map((parameter) => this.substitute(parameter, { toDyn }));
    const isUnchanged = parameters.every((parameter, index) => parameter === type.parameters[index]);
    return isUnchanged ? type : this.sized({ ...type, parameters });
  }

  /** Throws TypeTooLarge. Every type with parameters passes through here before it is used in another. */
  sized(type: CelType): CelType {
    if (this.#partsOf(type) > TYPE_PARTS_MAX) throw new TypeTooLarge(`type of expression exceeds limit of ${TYPE_PARTS_MAX} parts`);
    return type;
  }

  #partsOf(type: CelType): number {
    if (type.parameters.length === 0) return 1;
    const known = this.#parts.get(type);
    if (known !== undefined) return known;
    const parts = type.parameters.reduce((sum, parameter) => sum + this.#partsOf(parameter), 1);
    this.#parts.set(type, parts);
    return parts;
  }

  #assignable(a: CelType, b: CelType): boolean {
    spend(PART_STEPS);
    if (b.kind === "parameter") {
      const { isValid, wasBound } = this.#substitutable(a, b);
      if (isValid) return true;
      if (wasBound) return false;
    }
    if (a.kind === "parameter") return this.#substitutable(b, a).isValid;
    if (isDyn(a) || isDyn(b) || a.kind === "error" || b.kind === "error") return true;
    if (a.kind === "null") return acceptsNull(b);
    if (b.kind === "null") return acceptsNull(a);
    switch (a.kind) {
      case "type":
        return b.kind === "type";
      case "opaque":
      case "list":
      case "map":
        return a.kind === b.kind && a.name === b.name && this.#listAssignable(a.parameters, b.parameters);
      default:
        return acceptsType(b, a);
    }
  }

  #listAssignable(a: readonly CelType[], b: readonly CelType[]): boolean {
    return a.length === b.length && a.every((type, index) => this.#assignable(type, b[index] as CelType));
  }

  /** Whether the parameter can stand for the type; binds it if so. */
  #substitutable(type: CelType, parameter: CelType): { readonly isValid: boolean; readonly wasBound: boolean } {
    if (type.kind === parameter.kind && isSameType(type, parameter)) return { isValid: true, wasBound: true };
    const bound = this.#bound.get(parameter.name);
    if (bound === undefined) {
      const isValid = !this.#refersTo(type, parameter);
      if (isValid) this.bind(parameter, type);
      return { isValid, wasBound: false };
    }
    if (isSameType(type, bound)) return { isValid: true, wasBound: true };
    if (!this.#assignable(type, bound)) return { isValid: false, wasBound: true };
    const general = mostGeneral(type, bound);
    if (!this.#refersTo(general, parameter)) this.bind(parameter, general);
    return { isValid: true, wasBound: true };
  }

  #refersTo(type: CelType, parameter: CelType): boolean {
    spend(PART_STEPS);
    if (isSameType(type, parameter)) return true;
    if (type.kind === "parameter") {
      const bound = this.#bound.get(type.name);
      return bound !== undefined && this.#refersTo(bound, parameter);
    }
    return type.parameters.some((part) => this.#refersTo(part, parameter));
  }
}

/** Null is a value of wrappers, and for compatibility of objects, opaque types and times. */
function acceptsNull(type: CelType): boolean {
  return type.nullable === true || ["opaque", "object", "any", "duration", "timestamp", "null"].includes(type.kind);
}

function acceptsType(type: CelType, from: CelType): boolean {
  if (type === from || isDyn(type)) return true;
  if (type.nullable === true && from.kind === "null") return true;
  return (
    type.kind === from.kind &&
    type.name === from.name &&
    type.parameters.length === from.parameters.length &&
    type.parameters.every((part, index) => acceptsType(part, from.parameters[index] as CelType))
  );
}

export function mostGeneral(a: CelType, b: CelType): CelType {
  return isEqualOrLessSpecific(a, b) ? a : b;
}

function isEqualOrLessSpecific(a: CelType, b: CelType): boolean {
  if (isDyn(a) || a.kind === "parameter") return true;
  if (isDyn(b) || b.kind === "parameter") return false;
  if (a.kind !== b.kind) return false;
  switch (a.kind) {
    case "opaque":
    case "list":
    case "map":
      return (
        a.name === b.name &&
        a.parameters.length === b.parameters.length &&
        a.parameters.every((part, index) => isEqualOrLessSpecific(part, b.parameters[index] as CelType))
      );
    case "type":
      return true;
    default:
      return isSameType(a, b);
  }
}
