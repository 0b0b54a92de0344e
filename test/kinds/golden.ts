/**
 * The golden file of a kind, `<kind>.golden.yaml` next to the kind's source: what a user sends, what the server makes of it, how it is
 * printed, and the errors for an invalid one. Every built-in kind has one; its content was compared with upstream's server, so it is the
 * reference.
 *
 * - `given`: the object as a user writes it, named "golden…", without a namespace (the test sets one), or, of a kind that cannot be
 *   created, what exists; `before`: what must exist first
 * - `defaulted`: the response to its create, without values that differ each time; `<uid>` and `<now>` stand for the object's uid and
 *   creation time
 * - `status`: patched into its status afterwards; `table` and `wide`: the cells by column after that
 * - `change`: a valid merge patch; `bad` and `causes`: an invalid object, and each "field: message" in order
 * - `discovery`: the entries of `/api` and `/apis` for it and its subresources
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { all } from "../../src/api/all.ts";
import { parseYaml } from "../../src/api/machinery/codec/yaml/yaml.ts";
import { apiVersionOf, type Json, type JsonObject } from "../../src/api/machinery/object.ts";
import type { Resource, ServedVersion } from "../../src/api/machinery/resource.ts";
import { packageDirectory } from "../../src/testing/package-directory.ts";

export interface GivenObject extends JsonObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: JsonObject & { readonly name?: string };
}

export type Golden = {
  /** Relative to the package directory. */
  readonly path: string;
  readonly given: GivenObject;
  readonly before?: readonly GivenObject[];
  readonly defaulted: JsonObject;
  readonly status?: JsonObject;
  readonly table?: Readonly<Record<string, Json>>;
  readonly wide?: Readonly<Record<string, Json>>;
  readonly change?: JsonObject;
  readonly bad?: GivenObject;
  readonly causes?: readonly string[];
  readonly discovery: readonly JsonObject[];
};

export interface ServedKind {
  readonly resource: Resource;
  readonly served: ServedVersion;
}

const ROOT = packageDirectory(import.meta.dirname);

/** Golden files whose path contains `pattern`, sorted by path. */
export function readGoldens(pattern = ""): readonly Golden[] {
  const found = readdirSync(join(ROOT, "src/api"), { recursive: true, withFileTypes: true })
    .filter(({ name }) => name.endsWith(".golden.yaml"))
    .map(({ parentPath, name }) => relative(ROOT, join(parentPath, name)))
    .filter((path) => path.includes(pattern));
  return found.toSorted().map((path) => ({ ...(parseYaml(readFileSync(join(ROOT, path))).value as Golden), path }));
}

export function kindOf({ apiVersion, kind }: GivenObject): ServedKind {
  for (const resource of all) {
    const served = resource.kind === kind ? resource.served.find((candidate) => apiVersionOf(candidate) === apiVersion) : undefined;
    if (served !== undefined) return { resource, served };
  }
  throw new Error(`Cannot find ${apiVersion} ${kind}: it is not in src/api/all.ts`);
}

/** The collection in which the object is created. */
export function collectionOf(object: GivenObject, namespace: string): string {
  const { resource, served } = kindOf(object);
  const group = served.group === "" ? `/api/${served.version}` : `/apis/${served.group}/${served.version}`;
  return resource.scope === "Namespaced" ? `${group}/namespaces/${namespace}/${resource.plural}` : `${group}/${resource.plural}`;
}
