/**
 * Compares the OpenAPI v3 documents of our server with those of the snapshot: paths, operations, and schemas of the types that we use
 * (references, defaults, extensions). Descriptions and enumerations are compared elsewhere, for all types.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Comparison } from "./comparison.ts";
import { withOurDocuments } from "./our-documents.ts";
import { findSnapshot } from "./snapshot.ts";

interface Document {
  readonly paths?: Readonly<Record<string, PathItem>>;
  readonly components: { readonly schemas?: Readonly<Record<string, TypeDefinition>> };
}

type PathItem = Readonly<Record<string, Operation>> & { readonly parameters?: readonly Parameter[] };

interface Operation {
  readonly operationId: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Content & { readonly required?: boolean };
  readonly responses: Readonly<Record<string, Content>>;
  readonly [extension: `x-${string}`]: unknown;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: { readonly type: string };
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: { readonly $ref?: string } }>>;
}

type TypeDefinition = Readonly<Record<string, unknown>> & { readonly properties?: Readonly<Record<string, unknown>> };

export const openApiDocuments: Comparison = {
  name: "openapi-documents",

  compare: (directory) =>
    withOurDocuments(async (read) => {
      const folder = findSnapshot(directory, "openapi-v3");
      const found: string[] = [];
      for (const file of readdirSync(folder).sort()) {
        const path = file.replace(/_openapi\.json$/, "").replaceAll("__", "/");
        const ours = (await read(`/openapi/v3/${path}`)) as Document | undefined;
        const theirs = JSON.parse(readFileSync(join(folder, file), "utf8")) as Document;
        found.push(...(ours === undefined ? [`${path}: we do not serve it`] : documentDifferences(path, ours, theirs)));
      }
      return found;
    }),
};

function documentDifferences(document: string, ours: Document, theirs: Document): string[] {
  const types = Object.entries(ours.components.schemas ?? {});
  return [
    ...pathDifferences(document, ours.paths ?? {}, theirs.paths ?? {}),
    ...types.flatMap(([name, type]) => typeDifferences(`${document} ${name}`, type, theirs.components.schemas?.[name])),
  ];
}

type Paths = NonNullable<Document["paths"]>;

function pathDifferences(document: string, ours: Paths, theirs: Paths): string[] {
  const served = new Set(Object.keys(ours).map(pluralOf));
  const missing = new Set<string>();
  const found = [...new Set([...Object.keys(theirs), ...Object.keys(ours)])].flatMap((path) => {
    const [our, their] = [ours[path], theirs[path]];
    if (their === undefined) return [`${path}: they do not have it`];
    if (our !== undefined) return itemDifferences(path, our, their);
    if (served.has(pluralOf(path))) return [`${path}: we do not have it`];
    missing.add(pluralOf(path));
    return [];
  });
  // Reports all paths of a resource as one.
  return [...[...missing].map((plural) => `${document} ${plural}: we do not serve it`), ...found];
}

/** "pods" of "/api/v1/watch/namespaces/{namespace}/pods/{name}". */
function pluralOf(path: string): string {
  const below = path.replace(/^\/(api\/[^/]+|apis\/[^/]+\/[^/]+)\//, "");
  return (
    below
      .replace(/^watch\//, "")
      .replace(/^namespaces\/\{namespace\}\//, "")
      .split("/")[0] ?? ""
  );
}

const METHODS = ["get", "put", "post", "delete", "patch", "options", "head"];

function itemDifferences(path: string, ours: PathItem, theirs: PathItem): string[] {
  return METHODS.flatMap((method) => {
    const [our, their] = [ours[method], theirs[method]];
    if (our === undefined && their === undefined) return [];
    if (our === undefined || their === undefined) return [`${method} ${path}: ${our === undefined ? "we" : "they"} do not have it`];
    const [mine, yours] = [factsOf(ours, our), factsOf(theirs, their)];
    return [...new Set([...mine.keys(), ...yours.keys()])].flatMap((fact) =>
      differing(`${method} ${path}, ${fact}`, mine.get(fact), yours.get(fact)),
    );
  });
}

/** Facts of an operation to compare, by name. */
function factsOf(item: PathItem, operation: Operation): ReadonlyMap<string, string> {
  const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map(
    ({ name, in: place, required = false, schema }) =>
      [`${place} parameter ${name}`, `${schema.type}${required ? ", required" : ""}`] as const,
  );
  const extensions = Object.entries(operation).filter(([name]) => name.startsWith("x-"));
  const { requestBody = {}, responses } = operation;
  return new Map([
    ["id", operation.operationId],
    ["description", operation.description],
    ["tags", operation.tags.join(" ")],
    ...parameters,
    ...contentFacts(`body${operation.requestBody?.required === true ? " (required)" : ""}`, requestBody),
    ...Object.entries(responses).flatMap(([code, content]) => contentFacts(`response ${code}`, content)),
    ...extensions.map(([name, value]) => [name, sortedJson(value)] as const),
  ]);
}

/** The type and its media types. */
function contentFacts(what: string, { content = {} }: Content): readonly (readonly [string, string])[] {
  const types = new Set(Object.values(content).map(({ schema }) => schema.$ref?.split("/").at(-1) ?? sortedJson(schema)));
  return [
    [what, [...types].join(" ")],
    [`${what}, media types`, Object.keys(content).sort().join(" ")],
  ];
}

function typeDifferences(place: string, ours: TypeDefinition, theirs: TypeDefinition | undefined): string[] {
  if (theirs === undefined) return [`${place}: they do not have it`];
  const { properties: mine = {}, ...our } = ours;
  const { properties: yours = {}, ...their } = theirs;
  return [
    ...differing(place, formText(our), formText(their)),
    ...[...new Set([...Object.keys(mine), ...Object.keys(yours)])].flatMap((name) =>
      differing(`${place}.${name}`, formText(mine[name]), formText(yours[name])),
    ),
  ];
}

function formText(value: unknown): string | undefined {
  return value === undefined ? undefined : sortedJson(value, ["description", "enum"]);
}

function sortedJson(value: unknown, without: readonly string[] = []): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (part === null || typeof part !== "object" || Array.isArray(part)) return part;
    return Object.fromEntries(
      Object.entries(part)
        .filter(([name, inner]) => !without.includes(name) || (typeof inner === "object" && !Array.isArray(inner)))
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    );
  });
}

function differing(place: string, ours = "nothing", theirs = "nothing"): string[] {
  return ours === theirs ? [] : [`${place}: ours ${ours}, theirs ${theirs}`];
}
