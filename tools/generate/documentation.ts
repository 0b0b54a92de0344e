/**
 * Reads descriptions and enumeration values of the API from the declaration files of the packages of types, which are generated and so have
 * one form: a doc comment and then one member, indented by four.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type ApiPackage, type ApiTables, shortNameOf } from "./api-tables.ts";

export interface TypeDocumentation {
  readonly description: string;
  readonly fields: ReadonlyMap<string, FieldDocumentation>;
}

export interface FieldDocumentation {
  readonly description: string;
  readonly enum: readonly string[];
}

export interface Documentation {
  /** By short name. Undefined if the packages do not have the type: neither a resource nor a part of one (Table, ListOptions). */
  ofType(name: string): TypeDocumentation | undefined;
}

export function readDocumentation(root: string, tables: ApiTables): Documentation {
  const known = new Map<string, TypeDocumentation | undefined>();
  const inlinedIn = outerTypes(tables);
  const ofType = (name: string): TypeDocumentation | undefined => {
    if (known.has(name)) return known.get(name);
    const outer = inlinedIn.get(name);
    const own = documentationOf(root, tables.packageOf(name), shortNameOf(name));
    const documentation = own ?? (outer === undefined ? undefined : { description: "", fields: ofType(outer)?.fields ?? new Map() });
    known.set(name, documentation);
    return documentation;
  };
  return { ofType };
}

/** The packages lack types that are always inlined; their fields are described in the types that inline them. */
function outerTypes({ packages }: ApiTables): Map<string, string> {
  const types = packages.flatMap((one) => one.types);
  return new Map(types.flatMap(({ name, fields }) => fields.filter((field) => field.name === "").map(({ form }) => [form, name])));
}

/** Undefined if the declaration does not exist. */
export function documentationOf(root: string, one: DocumentedPackage, type: string): TypeDocumentation | undefined {
  const file = join(root, "node_modules", folderOf(one), `${type}.d.ts`);
  return existsSync(file) ? parseDeclaration(readFileSync(file, "utf8"), type) : undefined;
}

type DocumentedPackage = Pick<ApiPackage, "openApi" | "group" | "version">;

function folderOf({ openApi, group, version }: DocumentedPackage): string {
  const [, inApimachinery] = /^io\.k8s\.apimachinery\.pkg\.(.*)$/.exec(openApi) ?? [];
  return inApimachinery === undefined
    ? join("kubernetes-models", group, version)
    : `@kubernetes-models/apimachinery/${inApimachinery.replaceAll(".", "/")}`;
}

/** Exported for its test. */
export function parseDeclaration(text: string, type: string): TypeDocumentation | undefined {
  const start = new RegExp(`^(?:/\\*\\*\\n((?: \\*.*\\n)*?) \\*/\\n)?export (?:interface|type) I${type}\\b([^{;]*)`, "m").exec(text);
  if (start === null) return undefined;
  const isKind = (start[2] ?? "").includes("TypeMeta");
  const end = text.indexOf("\n}", start.index);
  const body = text.slice(start.index + start[0].length, end);
  const members = body.matchAll(/^(?: {4}\/\*\*\n((?: {5}\*.*\n)*?) {5}\*\/\n)? {4}"([^"]+)"\??: ([^;]*(?:;\n {4}\})?);/gm);
  const fields = new Map<string, FieldDocumentation>();
  for (const [, comment = "", name = "", typeText = ""] of members) {
    // apiVersion and kind of a kind have one value each, which is not an enumeration.
    const isLiteral = isKind && (name === "apiVersion" || name === "kind");
    fields.set(name, { description: textOf(comment), enum: isLiteral ? [] : enumOf(typeText) });
  }
  return { description: textOf(start[1] ?? ""), fields };
}

/** The text of a comment, without its markers and the tag for deprecated names. */
function textOf(comment: string): string {
  const lines = comment.split("\n").map((line) => line.replace(/^ *\* ?/, ""));
  return lines
    .join("\n")
    .trimEnd()
    .replace(/\n@deprecated$/, "")
    .replace(/\\\*(?:\\(?=\/))?/g, "*");
}

function enumOf(typeText: string): string[] {
  return [...typeText.matchAll(/"([^"]*)"/g)].map(([, value = ""]) => value);
}
