/** Objects that mutating policies create: `Object{…}` for apply configurations and `JSONPatch{…}`; and jsonpatch.escapeKey(). */
import { equal } from "../values/compare.ts";
import { toJson } from "../values/json.ts";
import { typeNameOf } from "../values/describe.ts";
import { textOf } from "../values/text.ts";
import { CelError, ListValue, MapValue, OpaqueValue, type CelResult, type CelValue } from "../values/value.ts";
import { objectOf, STRING, type CelType } from "../types/type.ts";
import { overload, type Library } from "./library.ts";

/** An object that an expression created. */
export class CreatedObject extends OpaqueValue {
  readonly type: CelType;
  readonly fields: ReadonlyMap<string, CelValue>;

  constructor(typeName: string, fields: ReadonlyMap<string, CelValue>) {
    super();
    this.type = objectOf(typeName);
    this.fields = fields;
  }

  equals(other: OpaqueValue): boolean {
    if (!(other instanceof CreatedObject) || other.type.name !== this.type.name || other.fields.size !== this.fields.size) return false;
    return Array.from(this.fields).every(([name, value]) => {
      const theirs = other.fields.get(name);
      return theirs !== undefined && equal(value, theirs) === true;
    });
  }

  override field(name: string): CelResult | undefined {
    return this.fields.get(name);
  }

  override toJson(): unknown {
    return Object.fromEntries(Array.from(this.fields, ([name, value]) => [name, toJson(value)]));
  }
}

const PATCH = "JSONPatch";
const TEXT_FIELDS = new Set(["op", "path", "from"]);

export function newObject(typeName: string, fields: ReadonlyMap<CelValue, CelValue>): CelResult {
  const named = new Map(Array.from(fields, ([name, value]) => [textOf(name), value]));
  if (typeName !== PATCH) return new CreatedObject(typeName, named);
  for (const [name, value] of named) {
    if (TEXT_FIELDS.has(name) && typeof value !== "string") {
      return new CelError(`unexpected type ${typeNameOf(value)} for JSONPatchType '${name}' field`);
    }
    if (!TEXT_FIELDS.has(name) && name !== "value") return new CelError(`unexpected JSONPatchType field: ${name}`);
  }
  return new CreatedObject(typeName, named);
}

/** Problems of the type names of nested objects: each must be named after its path ("Object.spec" at .spec), as upstream requires. */
export function typeNameProblems(value: CelValue): string[] {
  return value instanceof CreatedObject ? problemsAt(value, [value.type.name]) : [];
}

function problemsAt(value: CelValue, path: readonly string[]): string[] {
  if (value instanceof CreatedObject) {
    const expected = path.join(".");
    const own =
      value.type.name === expected
        ? []
        : [`unexpected type name "${value.type.name}", expected "${expected}", which matches field name path from root Object type`];
    return [...own, ...Array.from(value.fields).flatMap(([name, field]) => problemsAt(field, [...path, name]))];
  }
  if (value instanceof ListValue)
    return Array.from({ length: value.size }, (_, index) => value.at(index)).flatMap((element) => nested(element, path));
  if (value instanceof MapValue) return value.keys().flatMap((key) => nested(value.find(key), path));
  return [];
}

function nested(value: CelResult | undefined, path: readonly string[]): string[] {
  return value === undefined || value instanceof CelError ? [] : problemsAt(value, path);
}

export const jsonPatch: Library = {
  functions: [
    {
      name: "jsonpatch.escapeKey",
      overloads: [
        overload("string_jsonpatch_escapeKey_string", [STRING], STRING, ([key]) =>
          textOf(key).replaceAll(/[~/]/g, (character) => (character === "~" ? "~0" : "~1")),
        ),
      ],
    },
  ],
};
