/**
 * Claims and users as values of expressions. As upstream, every number is a double, and a name may be written escaped (`a__dot__b`) at any
 * depth.
 */
import { unescapeName } from "../../../cel/schema/escaping.ts";
import { ConcatList } from "../../../cel/values/containers.ts";
import { ListValue, MapValue, type CelResult, type CelValue } from "../../../cel/values/value.ts";

/** The value of a JSON object; its own names must be unescapable, those below it need not. */
export function claimsValue(json: Readonly<Record<string, unknown>>): CelValue {
  return new ClaimsMap(json, { isNested: false });
}

function valueOf(json: unknown): CelValue {
  switch (typeof json) {
    case "string":
    case "boolean":
      return json;
    case "number":
    case "bigint":
      return Number(json);
    default:
      if (typeof json !== "object" || json === null) return null;
      return Array.isArray(json) ? new ClaimsList(json) : new ClaimsMap(json as Readonly<Record<string, unknown>>, { isNested: true });
  }
}

class ClaimsList extends ListValue {
  readonly #json: readonly unknown[];

  constructor(json: readonly unknown[]) {
    super();
    this.#json = json;
  }

  get size(): number {
    return this.#json.length;
  }

  at(index: number): CelResult {
    return valueOf(this.#json[index]);
  }

  concat(other: ListValue): ListValue {
    return new ConcatList(this, other);
  }
}

class ClaimsMap extends MapValue {
  readonly #json: Readonly<Record<string, unknown>>;
  readonly #isNested: boolean;

  constructor(json: Readonly<Record<string, unknown>>, { isNested }: { readonly isNested: boolean }) {
    super();
    this.#json = json;
    this.#isNested = isNested;
  }

  get size(): number {
    return this.keys().length;
  }

  find(key: CelValue): CelResult | undefined {
    if (typeof key !== "string") return undefined;
    const name = unescapeName(key) ?? (this.#isNested ? key : undefined);
    return name !== undefined && Object.hasOwn(this.#json, name) ? valueOf(this.#json[name]) : undefined;
  }

  keys(): readonly string[] {
    return Object.keys(this.#json);
  }
}
