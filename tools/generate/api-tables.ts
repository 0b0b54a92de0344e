/**
 * The tables of tables/ as values: all facts about the types of the built-in API except their documentation (documentation.ts). Names are
 * short here ("core.v1.Pod"); `openApiName` returns the long form.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface ApiPackage {
  /** "core.v1" */
  readonly name: string;
  /** "io.k8s.api.core.v1" */
  readonly openApi: string;
  readonly group: string;
  /** "" for unversioned packages (runtime, version). */
  readonly version: string;
  readonly types: readonly ApiType[];
}

export interface ApiType {
  /** "core.v1.Pod" */
  readonly name: string;
  /** "Pod" */
  readonly shortName: string;
  readonly atomic: boolean;
  readonly inProtobuf: boolean;
  /** The field that discriminates the members of a union: "by kind", "by nothing". Empty: not a union. */
  readonly union: string;
  readonly fields: readonly ApiField[];
}

export interface ApiField {
  /** Empty: inlined, the fields of the struct of `form` are at this place in JSON. */
  readonly name: string;
  /** 0: not in protobuf. */
  readonly number: number;
  /** As tables/facts.ts explains. */
  readonly form: string;
  readonly zero: "keep" | "omit" | "write";
  readonly required: boolean;
  /** "", "set", "map:key,key", "atomic", "granular". */
  readonly merge: string;
  readonly patchStrategy: readonly string[];
  readonly patchMergeKey: string;
  /** JSON, or "". */
  readonly default: string;
}

export interface ApiTables {
  readonly packages: readonly ApiPackage[];
  typeOf(name: string): ApiType;
  packageOf(typeName: string): ApiPackage;
  openApiName(name: string): string;
}

const TABLES = "tools/generate/tables";

export function readApiTables(root: string): ApiTables {
  const fieldRows = groupBy(rowsOf(root, "fields.tsv"), ([type = ""]) => type);
  const typeRows = groupBy(rowsOf(root, "types.tsv"), ([type = ""]) => packageNameOf(type));
  const packages = rowsOf(root, "packages.tsv").map(([name = "", openApi = "", group = "", version = ""]) => {
    const types = (typeRows.get(name) ?? []).map((row) => typeOf(row, fieldRows.get(row[0] ?? "") ?? []));
    return { name, openApi, group, version, types };
  });
  const types = new Map(packages.flatMap((one) => one.types.map((type) => [type.name, type])));
  const byName = new Map(packages.map((one) => [one.name, one]));
  const packageOf = (typeName: string): ApiPackage => known(byName.get(packageNameOf(typeName)), typeName);
  return {
    packages,
    typeOf: (name) => known(types.get(name), name),
    packageOf,
    openApiName: (name) => `${packageOf(name).openApi}.${shortNameOf(name)}`,
  };
}

/** "core.v1" of "core.v1.Pod". */
export function packageNameOf(typeName: string): string {
  return typeName.slice(0, typeName.lastIndexOf("."));
}

/** "Pod" of "core.v1.Pod". */
export function shortNameOf(typeName: string): string {
  return typeName.slice(typeName.lastIndexOf(".") + 1);
}

function typeOf([name = "", merge = "", protobuf = "", union = ""]: readonly string[], rows: readonly (readonly string[])[]): ApiType {
  const shortName = shortNameOf(name);
  return { name, shortName, atomic: merge === "atomic", inProtobuf: protobuf !== "", union, fields: rows.map(fieldOf) };
}

function fieldOf(row: readonly string[]): ApiField {
  const [, name = "", number = "", form = "", zero = "", required = "", merge = "", strategy = "", mergeKey = "", value = ""] = row;
  return {
    name,
    number: Number(number),
    form,
    zero: zero as ApiField["zero"],
    required: required !== "",
    merge,
    patchStrategy: strategy === "" ? [] : strategy.split(","),
    patchMergeKey: mergeKey,
    default: value,
  };
}

function rowsOf(root: string, table: string): string[][] {
  const lines = readFileSync(join(root, TABLES, table), "utf8")
    .trimEnd()
    .split("\n");
  return lines.slice(1).map((line) => line.split("\t"));
}

function groupBy<T>(values: readonly T[], keyOf: (value: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const value of values) {
    const group = groups.get(keyOf(value));
    if (group === undefined) groups.set(keyOf(value), [value]);
    else group.push(value);
  }
  return groups;
}

function known<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new Error(`The tables do not have the type ${JSON.stringify(name)}`);
  return value;
}
