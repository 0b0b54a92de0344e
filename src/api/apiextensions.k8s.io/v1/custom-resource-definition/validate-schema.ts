/**
 * Validation of a schema in a definition, beyond being structural: the part of OpenAPI v3 that custom resources use, and the x-kubernetes
 * extensions. Errors are upstream's, those of validation rules after all others.
 */
import { Causes, PAUSE } from "../../../machinery/validation-errors.ts";
import { child, element, forbidden, invalid, notSupported, type FieldError } from "../../../machinery/field-error.ts";
import { additionalPropertiesOf, itemsOf, type JsonSchema, otherPropertiesOf, placesOf, propertiesOf } from "../schema/json-schema.ts";
import { RESOURCE_MEMBERS } from "../schema/prune.ts";
import { unstructurable } from "../schema/structural.ts";
import { validateAtomicSetItems, validateListAndMapTypes, validateMapListKeys } from "./validate-list-types.ts";
import { validateRules } from "./validate-rules.ts";
import { isObject } from "../../../machinery/object.ts";

const TYPES = ["array", "boolean", "integer", "number", "object", "string"];

/** Rules that do not apply to a stored definition without them. */
export interface SchemaRules {
  readonly requireValidTypes: boolean;
  readonly requireAtomicSetItems: boolean;
  readonly requireMapListKeys: boolean;
  /** Compiles the validation rules of one schema (CEL); by default none are compiled. */
  readonly compileRules?: RuleCompiler;
}

/** A schema with well-formed validation rules; the schema and all below it are structural and valid. */
export interface RulesToCompile {
  readonly schema: JsonSchema;
  readonly at: string;
  /** From the root to the schema, both included: they bound how often a rule can be evaluated. */
  readonly ancestry: readonly JsonSchema[];
  /** Within this, old and new values cannot be correlated, so rules may not use oldSelf. */
  readonly uncorrelatedAt: string | undefined;
}

export type RuleCompiler = (rules: RulesToCompile) => Iterable<FieldError>;

/** Position of a schema in a definition's schema. */
interface Place {
  readonly at: string;
  readonly rules: SchemaRules;
  readonly isRoot: boolean;
  /** Why a default is not allowed here; undefined where it is. */
  readonly noDefaults?: string | undefined;
  /** In kind, apiVersion or metadata of a resource. */
  readonly isInResourceMeta: boolean;
  /** Undefined where rules are not compiled: in allOf and the like they are rejected. */
  readonly ancestry?: readonly JsonSchema[] | undefined;
  readonly uncorrelatedAt?: string | undefined;
}

/** Shared accumulator, so that errors are not copied between levels. */
interface Found {
  readonly causes: Causes;
  readonly ruleErrors: Causes;
  /** Non-structural parts by schema: needed for each schema with rules, and again for those below it. */
  readonly unstructurable: Map<JsonSchema, string | undefined>;
}

/** `compilesRules`: the schema is structural. */
export function* validateSchema(schema: JsonSchema, at: string, rules: SchemaRules, compilesRules: boolean): Iterable<FieldError> {
  const found: Found = { causes: new Causes(), ruleErrors: new Causes(), unstructurable: new Map() };
  yield* validateAt(schema, { at, rules, isRoot: true, isInResourceMeta: false, ancestry: compilesRules ? [] : undefined }, found);
  yield* found.causes.errors;
  yield* found.ruleErrors.errors;
}

/** Yields pauses only. */
function* validateAt(schema: JsonSchema, place: Place, found: Found): Iterable<FieldError> {
  const { causes, ruleErrors } = found;
  if (causes.isFull) return;
  const ancestry = place.ancestry && [...place.ancestry, schema];
  const before = causes.errors.length;
  causes.addAll(validateOpenApi(schema, place));
  for (const [inner, innerPlace] of innerSchemas(schema, { ...place, ancestry }))
    yield* validateAt(inner, { ...innerPlace, isRoot: false }, found);
  causes.addAll(validateExtensions(schema, place, found));
  const hasRules = (schema["x-kubernetes-validations"] ?? []).length > 0;
  if (!hasRules || causes.errors.length > before || ancestry === undefined || place.rules.compileRules === undefined) return;
  const { at, uncorrelatedAt } = place;
  yield* ruleErrors.addInSteps(place.rules.compileRules({ schema, at, ancestry, uncorrelatedAt }), PAUSE);
}

function* validateExtensions(schema: JsonSchema, { at, rules }: Place, found: Found): Iterable<FieldError> {
  if (schema["x-kubernetes-preserve-unknown-fields"] === false) {
    yield invalid(child(at, "x-kubernetes-preserve-unknown-fields"), false, "must be true or undefined");
  }
  yield* validateListAndMapTypes(schema, at, () => (rules.requireAtomicSetItems ? validateAtomicSetItems(schema, at) : []));
  if (rules.requireMapListKeys) yield* validateMapListKeys(schema, at);
  const isStructurable = () => unstructurable(schema, found.unstructurable) === undefined;
  yield* validateRules(schema, child(at, "x-kubernetes-validations"), isStructurable);
}

/** Rules of a schema itself. */
function* validateOpenApi(schema: JsonSchema, { at, rules, noDefaults, isInResourceMeta }: Place): Iterable<FieldError> {
  const { type } = schema;
  if (rules.requireValidTypes && type !== undefined && !TYPES.includes(type)) yield notSupported(child(at, "type"), type, TYPES);
  if (schema.default !== undefined && noDefaults !== undefined) yield forbidden(child(at, "default"), `must not be set ${noDefaults}`);
  for (const member of ["id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"] as const) {
    if (schema[member] !== undefined) yield forbidden(child(at, member), `${member} is not supported`);
  }
  if (type === "null") yield forbidden(child(at, "type"), "type cannot be set to null, use nullable as an alternative");
  if (placesOf(schema).length > 0) yield forbidden(child(at, "items"), "items must be a schema object and not an array");
  if (isInResourceMeta && schema["x-kubernetes-embedded-resource"] === true) {
    yield forbidden(child(at, "x-kubernetes-embedded-resource"), "must not be used inside of resource meta");
  }
  if (schema.uniqueItems === true) {
    yield forbidden(child(at, "uniqueItems"), "uniqueItems cannot be set to true since the runtime complexity becomes quadratic");
  }
  const additional = additionalPropertiesOf(schema);
  const restrictsOthers = additional !== undefined && (!additional.allowed || additional.schema !== undefined);
  if (restrictsOthers && propertiesOf(schema).length > 0) {
    yield forbidden(child(at, "additionalProperties"), "additionalProperties and properties are mutual exclusive");
  }
}

/** The direct subschemas of a schema, in upstream's order, with their positions. */
function* innerSchemas(schema: JsonSchema, place: Place): Iterable<readonly [JsonSchema, Place]> {
  const { at } = place;
  const others = otherPropertiesOf(schema);
  if (others !== undefined) {
    const noDefaults = place.isInResourceMeta ? "inside additionalProperties applying to object metadata" : place.noDefaults;
    yield [others, { ...place, at: child(at, "additionalProperties"), noDefaults }];
  }
  for (const [name, property] of propertiesOf(schema)) yield [property, propertyPlace(schema, name, place)];
  if (COMBINING.some((member) => schema[member] !== undefined)) yield* combinedSchemas(schema, { ...place, ancestry: undefined });
  if (schema.items !== undefined) yield* itemSchemas(schema, isMapList(schema) ? place : uncorrelated(place));
  for (const [name, dependency] of Object.entries(schema.dependencies ?? NONE)) {
    if (isObject(dependency)) yield [dependency, { ...place, ancestry: undefined, at: element(child(at, "dependencies"), name) }];
  }
}

/** Fast path: most schemas have none of these, and there can be a hundred thousand schemas. */
const COMBINING = ["not", "allOf", "oneOf", "anyOf", "definitions"] as const satisfies (keyof JsonSchema)[];
const NONE: Readonly<Record<string, never>> = {};

function* itemSchemas(schema: JsonSchema, place: Place): Iterable<readonly [JsonSchema, Place]> {
  const at = child(place.at, "items");
  const items = itemsOf(schema);
  if (items !== undefined) yield [items, { ...place, at }];
  for (const [index, item] of placesOf(schema).entries()) yield [item, { ...place, at: element(at, index) }];
}

function* combinedSchemas(schema: JsonSchema, place: Place): Iterable<readonly [JsonSchema, Place]> {
  const { at } = place;
  if (schema.not !== undefined) yield [schema.not, { ...place, at: child(at, "not") }];
  for (const name of ["allOf", "oneOf", "anyOf"] as const) {
    for (const [index, part] of (schema[name] ?? []).entries()) yield [part, { ...place, at: element(child(at, name), index) }];
  }
  for (const [name, definition] of Object.entries(schema.definitions ?? {})) {
    yield [definition, { ...place, at: element(child(at, "definitions"), name) }];
  }
}

/** Also the members of an atomic map have names, by which the previous ones are found. */
const CORRELATED_MAPS: readonly string[] = ["granular", "atomic"];

function propertyPlace(schema: JsonSchema, name: string, outer: Place): Place {
  const mapType = schema["x-kubernetes-map-type"] ?? "granular";
  const correlated = CORRELATED_MAPS.includes(mapType) ? outer : uncorrelated(outer);
  const place: Place = { ...correlated, at: element(child(outer.at, "properties"), name) };
  const isResource = outer.isRoot || schema["x-kubernetes-embedded-resource"] === true;
  if (!isResource || !RESOURCE_MEMBERS.has(name)) return place;
  return { ...place, isInResourceMeta: true, ...(outer.isRoot && { noDefaults: `in top-level ${name}` }) };
}

/** The outermost schema that causes it is reported. */
function uncorrelated(place: Place): Place {
  return { ...place, uncorrelatedAt: place.uncorrelatedAt ?? place.at };
}

/** Only the items of these can be correlated with the previous ones. */
function isMapList(schema: JsonSchema): boolean {
  return schema["x-kubernetes-list-type"] === "map";
}

/** True if types occur that OpenAPI does not have. */
export function hasInvalidType({ type }: JsonSchema): boolean {
  return type !== undefined && !TYPES.includes(type);
}
