/**
 * The golden file of a kind, `<kind>.golden.yaml` beside the kind's own: what a user sends, what the server makes of it, how it is shown,
 * and what it says to a bad one. Every built-in kind has one; what is in it was compared with upstream's server, so it is the yardstick.
 *
 * - `given`: as a user writes it, called "golden…", in no namespace (whoever plays it puts it into one), or, of a kind that nobody can
 *   create, what is there; `before`: what must exist first
 * - `defaulted`: the answer to its create, without what differs each time; `<uid>` and `<now>` stand for the object's uid and birth
 * - `status`: what is patched into its status afterwards; `table` and `wide`: then, the cells by column
 * - `change`: a merge patch that is allowed; `bad` and `causes`: a bad object, and each "field: message" in order
 * - `discovery`: what `/api` and `/apis` say of it and its subresources
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
  /** From the package's directory. */
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

/** Those whose path contains `pattern`, by path. */
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

/** The collection that the object is created in. */
export function collectionOf(object: GivenObject, namespace: string): string {
  const { resource, served } = kindOf(object);
  const group = served.group === "" ? `/api/${served.version}` : `/apis/${served.group}/${served.version}`;
  return resource.scope === "Namespaced" ? `${group}/namespaces/${namespace}/${resource.plural}` : `${group}/${resource.plural}`;
}
