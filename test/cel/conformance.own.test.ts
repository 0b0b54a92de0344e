/**
 * The published conformance vectors of the Common Expression Language, as far as Kubernetes' environment allows them. What is left out is
 * named with its reason, and the number of vectors that run is asserted, so that none is lost unnoticed.
 */
import { equal } from "node:assert/strict";
import { describe, test } from "node:test";
import { tests } from "@bufbuild/cel-spec/testdata/conformance.js";
import { compile } from "../../src/cel/compile.ts";
import { createEnvironment } from "../../src/cel/environment.ts";
import { show } from "../../src/cel/testing/show.ts";
import {
  ANY,
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  NULL,
  nullableOf,
  objectOf,
  opaqueOf,
  STRING,
  TIMESTAMP,
  typeOf,
  UINT,
  type CelType,
} from "../../src/cel/types/type.ts";
import { ArrayList, EntryMap } from "../../src/cel/values/containers.ts";
import { provideTimeZones } from "../../src/cel/values/time-zones.ts";
import { CelError, TypeValue, Uint, type CelValue } from "../../src/cel/values/value.ts";
import { machineTimeZone } from "../../src/host/time-zones.ts";

provideTimeZones(machineTimeZone);

/** Vectors that run; update it with the package. */
const RUN_MIN = 1_374;

interface Json {
  readonly [name: string]: unknown;
}

interface Vector {
  readonly name?: string;
  readonly expr: string;
  readonly container?: string;
  readonly disableCheck?: boolean;
  readonly disableMacros?: boolean;
  readonly checkOnly?: boolean;
  readonly typeEnv?: readonly { readonly name: string; readonly ident?: { readonly type?: Json }; readonly function?: unknown }[];
  readonly bindings?: Readonly<Record<string, { readonly value?: Json }>>;
  readonly value?: Json;
  readonly typedResult?: { readonly result?: Json };
  readonly evalError?: unknown;
  readonly anyEvalErrors?: unknown;
  readonly unknown?: unknown;
}

interface Suite {
  readonly name: string;
  readonly suites?: readonly Suite[];
  readonly tests?: readonly { readonly original: object }[];
}

const MESSAGES = "protobuf messages and enums that Kubernetes does not declare, and the content of Any";

/** Vectors that Kubernetes' environment refuses, by what their JSON or path has. */
const LEFT_OUT: readonly (readonly [reason: string, pattern: RegExp])[] = [
  [MESSAGES, /TestAllTypes|google\.protobuf\.Any|enumValue|messageType|"container"/],
  [
    "extensions that Kubernetes does not enable",
    /\bmath\.|base64\.|cel\.bind|cel\.block|cel\.iterVar|proto\.getExt|proto\.hasExt|string_ext.*\.reverse\(\)/,
  ],
  ["quoted field names, which Kubernetes does not enable", /quoted_map_fields/],
  [
    "the second version of format(), which Kubernetes does not enable",
    /\/format\/.*(?:scientific|infinity|NaN|list support|map support|dyntype)/,
  ],
  ["indexOf() with an offset beyond the end, an error only since a later version", /indexof_out_of_range/],
  ["duplicate keys, which upstream accepts", /map_value_repeat_key/],
  ["presence of fields of values without fields, an error only by an option", /map_null_entry_no_such_key|map_present_key_invalid_field/],
  ["macros disabled", /"disableMacros":true/],
  ["functions that the vector declares", /"function":\{/],
  ["unknown values", /"unknown"|"anyUnknowns"/],
];

const PRIMITIVES: Readonly<Record<string, CelType>> = { BOOL, INT64: INT, UINT64: UINT, DOUBLE, STRING, BYTES };
const WELL_KNOWN: Readonly<Record<string, CelType>> = { ANY, TIMESTAMP, DURATION };

function readType(json: Json | undefined): CelType {
  const [kind = "dyn", parameter] = Object.entries(json ?? {})[0] ?? [];
  const nested = parameter as Json;
  switch (kind) {
    case "primitive":
      return PRIMITIVES[String(parameter)] ?? DYN;
    case "wrapper":
      return nullableOf(PRIMITIVES[String(parameter)] ?? DYN);
    case "wellKnown":
      return WELL_KNOWN[String(parameter)] ?? DYN;
    case "listType":
      return listOf(readType(nested["elemType"] as Json | undefined));
    case "mapType":
      return mapOf(readType(nested["keyType"] as Json | undefined), readType(nested["valueType"] as Json | undefined));
    case "null":
      return NULL;
    case "type":
      return typeOf(readType(nested));
    case "abstractType":
      return opaqueOf(String(nested["name"]), ...((nested["parameterTypes"] ?? []) as readonly Json[]).map(readType));
    default:
      return DYN;
  }
}

/** undefined: a message. */
function readValue(json: Json): CelValue | undefined {
  const [kind = "", content] = Object.entries(json)[0] ?? [];
  const nested = content as Json;
  switch (kind) {
    case "int64Value":
      return BigInt(String(content));
    case "uint64Value":
      return new Uint(BigInt(String(content)));
    case "doubleValue":
      return Number(content);
    case "stringValue":
    case "boolValue":
      return content as string | boolean;
    case "bytesValue":
      return Uint8Array.from(Buffer.from(String(content), "base64"));
    case "nullValue":
      return null;
    case "typeValue":
      return new TypeValue(objectOf(String(content)));
    case "listValue":
      return new ArrayList(((nested["values"] ?? []) as readonly Json[]).map((element) => readValue(element) ?? null));
    case "mapValue":
      return readMap((nested["entries"] ?? []) as readonly { readonly key: Json; readonly value: Json }[]);
    default:
      return undefined;
  }
}

function readMap(entries: readonly { readonly key: Json; readonly value: Json }[]): CelValue {
  const map = EntryMap.of(entries.map(({ key, value }) => [readValue(key) ?? null, readValue(value) ?? null] as const));
  if (map instanceof CelError) throw new Error(map.message);
  return map;
}

/** The result as the vector writes it: a value, "error", or the reason why it does not run. */
function run(vector: Vector): { readonly result: string; readonly leftOut?: string } {
  const names = Object.keys(vector.bindings ?? {});
  const declared = (vector.typeEnv ?? []).map(({ name, ident }) => [name, readType(ident?.type)] as const);
  const variables = { ...Object.fromEntries(names.map((name) => [name, DYN])), ...Object.fromEntries(declared) };
  const bindings = Object.fromEntries(names.map((name) => [name, readValue(vector.bindings?.[name]?.value ?? {}) ?? null]));
  const compilation = compile(createEnvironment({ variables }), vector.expr);
  if (!compilation.ok) {
    if (vector.disableCheck === true) return { result: "error", leftOut: "only valid without type checks" };
    const isMixed = compilation.issues.every(({ message }) => /^expected type '.*' but found '.*'$/.test(message));
    return isMixed ? { result: "error", leftOut: "elements of different types in a literal" } : { result: "error" };
  }
  if (vector.checkOnly === true) return { result: "checked" };
  const evaluation = compilation.program.evaluate(bindings);
  return { result: evaluation.ok ? show(evaluation.value) : "error" };
}

function expectedOf(vector: Vector): string {
  if (vector.evalError !== undefined || vector.anyEvalErrors !== undefined) return "error";
  if (vector.checkOnly === true) return "checked";
  const json = vector.value ?? vector.typedResult?.result;
  if (json === undefined) return "true";
  const message = json["objectValue"] as Json | undefined;
  if (message === undefined) return show(readValue(json));
  const text = String(message["value"]);
  return text.endsWith("s") ? `duration(${BigInt(Math.round(Number.parseFloat(text) * 1e9))})` : `timestamp(${text})`;
}

let ran = 0;

function runSuite(suite: Suite, path: string): void {
  describe(suite.name, () => {
    for (const { original } of suite.tests ?? []) runVector(original as Vector, path);
    for (const inner of suite.suites ?? []) runSuite(inner, `${path}/${inner.name}`);
  });
}

function runVector(vector: Vector, path: string): void {
  const text = `${path}/${vector.name ?? ""} ${JSON.stringify(vector)}`;
  const leftOut = LEFT_OUT.find(([, pattern]) => pattern.test(text))?.[0];
  if (leftOut !== undefined) return;
  const expected = expectedOf(vector);
  const actual = run(vector);
  if (actual.leftOut !== undefined && expected !== "error") return;
  ran++;
  test(`${vector.name ?? ""}: ${vector.expr}`, () => equal(actual.result, expected));
}

runSuite(tests, "");

test("no vector that ran before is lost", () => equal(ran >= RUN_MIN, true, `${ran} vectors ran`));
