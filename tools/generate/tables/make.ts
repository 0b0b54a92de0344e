/**
 * Generates the tables beside this file, run from the root of the clone: `node out/tools/generate/tables/make.js DIRECTORY`, where DIRECTORY holds the Go modules api,
 * apimachinery, apiextensions-apiserver, kube-aggregator and metrics of k8s.io in one version each, as Go's module cache does
 * (`go mod download k8s.io/api@v0.36.0 …`, then "$(go env GOMODCACHE)/k8s.io"). Run once per version of Kubernetes, and the result is
 * committed: facts of the wire format and of Go's zero values, which no npm package has. Every number in a Go tag is verified with
 * the `.proto` file of its package.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fieldsOf, hasFormOfItsOwn, type Packages, rowOf } from "./facts.ts";
import { type GoPackage, type GoType, readGoPackage } from "./go-source.ts";
import { numbersOf } from "./proto-source.ts";

const GO_VERSION = "v0.36.0";

/** In addition to the stable packages of k8s.io/api, which are found by their folders. */
const MORE_API_PACKAGES = [
  "k8s.io/api/certificates/v1beta1",
  "k8s.io/apimachinery/pkg/apis/meta/v1",
  "k8s.io/apimachinery/pkg/runtime",
  "k8s.io/apimachinery/pkg/version",
  "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1",
  "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1",
  "k8s.io/metrics/pkg/apis/custom_metrics/v1beta1",
  "k8s.io/metrics/pkg/apis/custom_metrics/v1beta2",
  "k8s.io/metrics/pkg/apis/external_metrics/v1beta1",
  "k8s.io/metrics/pkg/apis/metrics/v1beta1",
];

/** Types of a package that k8ts does not serve. */
const UNSERVED: Readonly<Record<string, RegExp>> = { "k8s.io/api/certificates/v1beta1": /^CertificateSigningRequest/ };

/** Their types are strings, numbers or have their own encoding; they have no rows. */
const LENDING_PACKAGES = ["k8s.io/apimachinery/pkg/types", "k8s.io/apimachinery/pkg/api/resource", "k8s.io/apimachinery/pkg/util/intstr"];

/** The types of apimachinery's runtime package that are serialized. */
const SENT_OF_RUNTIME = ["TypeMeta", "Unknown"];

const STABLE = /^v\d+$/;
const VERSION = /^v\d+(?:(?:alpha|beta)\d+)?$/;

const PACKAGE_COLUMNS = ["package", "openApi", "group", "version"];
const TYPE_COLUMNS = ["type", "merge", "protobuf", "union"];
const FIELD_COLUMNS = ["type", "field", "number", "form", "zero", "required", "merge", "strategy", "mergeKey", "default"];

class Sources implements Packages {
  readonly api: ReadonlyMap<string, GoPackage>;
  private readonly lending: ReadonlyMap<string, GoPackage>;
  private readonly numbers = new Map<string, Map<string, number>>();

  constructor(modules: string) {
    const directoryOf = (path: string): string => join(modules, path.replace(/^k8s\.io\/([^/]+)/, `$1@${GO_VERSION}`));
    const read = (path: string): [string, GoPackage] => [path, readGoPackage(directoryOf(path), path)];
    this.api = new Map([...stablePackages(directoryOf("k8s.io/api")), ...MORE_API_PACKAGES].map(read));
    this.lending = new Map(LENDING_PACKAGES.map(read));
    for (const path of this.api.keys()) {
      const file = join(directoryOf(path), "generated.proto");
      if (existsSync(file)) this.numbers.set(path, numbersOf(readFileSync(file, "utf8")));
    }
  }

  get(path: string): GoPackage | undefined {
    return this.api.get(path) ?? this.lending.get(path);
  }

  shortNameOf(path: string): string | undefined {
    return this.api.has(path)
      ? path
          .split("/")
          .slice(VERSION.test(path.slice(path.lastIndexOf("/") + 1)) ? -2 : -1)
          .join(".")
      : undefined;
  }

  isMessage(path: string, type: string): boolean {
    return this.numbers.get(path)?.has(type) ?? false;
  }

  checkNumber(path: string, type: string, [, , number = ""]: readonly string[], protobufTag: string): void {
    const name = /name=(\w+)/.exec(protobufTag)?.[1] ?? "";
    const inProto = this.numbers.get(path)?.get(`${type}.${name}`);
    if (name === "" || inProto === Number(number)) return;
    throw new Error(`The Go tag of ${path}.${type} numbers ${name} ${number}, its .proto file says ${inProto}`);
  }
}

function stablePackages(api: string): string[] {
  const groups = readdirSync(api, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return groups.flatMap(({ name }) =>
    readdirSync(join(api, name))
      .filter((version) => STABLE.test(version))
      .map((version) => `k8s.io/api/${name}/${version}`),
  );
}

function makeTables(sources: Sources): void {
  const packages = [...sources.api.values()];
  const rows = packages.map((one) => rowsOf(sources, one));
  write(
    "packages.tsv",
    PACKAGE_COLUMNS,
    packages.map((one) => packageRow(sources, one)),
  );
  write(
    "types.tsv",
    TYPE_COLUMNS,
    rows.flatMap(({ types }) => types),
  );
  write(
    "fields.tsv",
    FIELD_COLUMNS,
    rows.flatMap(({ fields }) => fields),
  );
}

function packageRow(sources: Sources, { path, group }: GoPackage): string[] {
  const version = path.slice(path.lastIndexOf("/") + 1);
  const [host = "", ...folders] = path.split("/");
  const openApi = [...host.split(".").reverse(), ...folders].join(".");
  return [sources.shortNameOf(path) ?? "", openApi, group === "meta.k8s.io" ? "" : group, VERSION.test(version) ? version : ""];
}

/** All rows of a package: one per type, and one per field. */
function rowsOf(sources: Sources, { path, types }: GoPackage): { readonly types: string[][]; readonly fields: string[][] } {
  const rows = { types: [] as string[][], fields: [] as string[][] };
  for (const type of [...types.values()].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const { scope, fields } = fieldsOf({ path, type }, sources) ?? {};
    if (scope === undefined || fields === undefined || !isSent(sources, path, type)) continue;
    const name = `${sources.shortNameOf(path)}.${type.name}`;
    rows.types.push([name, type.markers.get("structType")?.[0] ?? "", sources.isMessage(path, type.name) ? "protobuf" : "", unionOf(type)]);
    for (const field of fields) {
      const row = rowOf(name, field, scope, sources);
      if (row.length === 0) continue;
      const protobufTag = field.tags.get("protobuf") ?? "";
      if (sources.isMessage(path, type.name)) sources.checkNumber(path, type.name, row, protobufTag);
      rows.fields.push(row);
    }
  }
  return rows;
}

function isSent(sources: Sources, path: string, { name, fields }: GoType): boolean {
  if (hasFormOfItsOwn(path, name) || !/^[A-Z]/.test(name) || UNSERVED[path]?.test(name) === true) return false;
  if (path.endsWith("/runtime")) return SENT_OF_RUNTIME.includes(name);
  return sources.isMessage(path, name) || (fields ?? []).some(({ tags }) => tags.has("json"));
}

/** A struct with exactly one member set, and the field that discriminates it. */
function unionOf({ markers, fields }: GoType): string {
  if (!markers.has("union")) return "";
  const discriminator = (fields ?? []).find((field) => field.markers.has("unionDiscriminator"));
  return `by ${discriminator?.tags.get("json")?.split(",")[0] ?? "nothing"}`;
}

function write(name: string, header: readonly string[], rows: readonly (readonly string[])[]): void {
  const lines = [header, ...rows].map((row) => row.join("\t").trimEnd());
  writeFileSync(join("tools/generate/tables", name), `${lines.join("\n")}\n`);
}

const [modules] = process.argv.slice(2);
if (modules === undefined) throw new Error("Cannot make the tables: the directory with the Go modules of k8s.io should be given");
makeTables(new Sources(modules));
