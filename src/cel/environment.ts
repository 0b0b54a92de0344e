/**
 * An environment: the variables and types of one use of the language, and the libraries, which are Kubernetes 1.36's and the same for all
 * uses. Created once and shared: it never changes.
 */
import type { EnvironmentOptions } from "./contract.ts";
import { joinLibraries, type LibraryFunction } from "./library/library.ts";
import { LIBRARIES, PATCH_LIBRARIES } from "./library/all.ts";
import { wellKnownMessage } from "./library/well-known-messages.ts";
import { KEYWORDS } from "./schema/escaping.ts";
import type { Declaration } from "./types/declaration.ts";
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  NULL,
  objectOf,
  opaqueOf,
  STRING,
  TIMESTAMP,
  TYPE,
  UINT,
  type CelType,
} from "./types/type.ts";

export interface Environment {
  readonly variables: ReadonlyMap<string, CelType>;
  readonly functions: ReadonlyMap<string, LibraryFunction>;
  /** Types that expressions may name, by name. */
  readonly types: ReadonlyMap<string, CelType>;
  readonly sizes: Declaration | undefined;
  /** True if cel.bind is a macro. */
  readonly bindMacro: boolean;
  /** The type that an object or message of this name has, and the types of its fields; undefined: no such type. */
  findObject(name: string): ObjectFields | undefined;
}

export interface ObjectFields {
  readonly type: CelType;
  /** undefined: no such field. */
  field(name: string): CelType | undefined;
}

const FUNCTIONS = joinLibraries(LIBRARIES);
const PATCH_FUNCTIONS = joinLibraries([...LIBRARIES, ...PATCH_LIBRARIES]);

const NAMED_TYPES: ReadonlyMap<string, CelType> = new Map([
  ...[BOOL, BYTES, DOUBLE, DURATION, INT, NULL, STRING, TIMESTAMP, TYPE, UINT].map((type) => [type.name, type] as const),
  ["list", listOf(DYN)],
  ["map", mapOf(DYN, DYN)],
  ["optional_type", opaqueOf("optional_type")],
  ...LIBRARIES.flatMap(({ types = [] }) => types).map((type) => [type.name, type] as const),
]);

const PATCH_FIELDS: ReadonlyMap<string, CelType> = new Map([
  ["op", STRING],
  ["path", STRING],
  ["from", STRING],
  ["value", DYN],
]);
const PATCH_TYPE = "JSONPatch";
const PATCHED_OBJECT_TYPE = "Object";

export function createEnvironment(options: EnvironmentOptions): Environment {
  const { variables, declarations = [], sizes, patchTypes = false, bindMacro = false } = options;
  const objects = new Map<string, ObjectFields>();
  const pending = [...declarations];
  /** Fields are declared lazily: those of a type are only looked at when the type is. */
  const declare = (declaration: Declaration): void => {
    if (declaration.key !== undefined) declare(declaration.key);
    if (declaration.element !== undefined) declare(declaration.element);
    const { name, kind } = declaration.type;
    if (kind !== "object" || objects.has(name)) return;
    objects.set(name, { type: declaration.type, field: (field) => fieldType(declaration, field, declare) });
  };
  for (const declaration of pending) declare(declaration);
  return {
    variables: new Map(Object.entries(variables)),
    functions: patchTypes ? PATCH_FUNCTIONS : FUNCTIONS,
    types: NAMED_TYPES,
    sizes,
    bindMacro,
    findObject: (name) => objects.get(name) ?? (patchTypes ? patchObject(name) : undefined) ?? wellKnownMessage(name),
  };
}

/** Names that are keywords in CEL may be fields as they are. */
function fieldType(declaration: Declaration, name: string, declare: (declaration: Declaration) => void): CelType | undefined {
  const field = declaration.fields?.get(name) ?? (KEYWORDS.has(name) ? declaration.fields?.get(`__${name}__`) : undefined);
  if (field !== undefined) declare(field);
  return field?.type;
}

/** The types of mutating policies: `Object` with any fields, `Object.spec`, …, and JSONPatch. */
function patchObject(name: string): ObjectFields | undefined {
  if (name === PATCH_TYPE) return { type: objectOf(name), field: (field) => PATCH_FIELDS.get(field) };
  if (name !== PATCHED_OBJECT_TYPE && !name.startsWith(`${PATCHED_OBJECT_TYPE}.`)) return undefined;
  return { type: objectOf(name), field: () => DYN };
}
