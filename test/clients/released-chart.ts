/**
 * A chart during its lifecycle under the real Helm: the objects of its manifest, their stored state, and what remains after uninstall.
 * Kinds are found by discovery, as clients do.
 */
import { join } from "node:path";
import { parseYaml } from "../../src/api/machinery/codec/yaml/yaml.ts";
import type { TestApiServer } from "../../src/testing/servers/api-server.ts";
import { packageDirectory } from "../../src/testing/package-directory.ts";

export function chartDirectory(chart: string): string {
  return join(packageDirectory(import.meta.dirname), "test", "charts", chart);
}

type Named = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly resourceVersion?: string; readonly annotations?: Readonly<Record<string, string>> };
};

/** The objects of a manifest, by kind and name. */
export function objectsOf(manifest: string): ReadonlyMap<string, Named> {
  // Helm writes this separator before each document, and a chart between its own; our parser takes one document at a time.
  const documents = manifest.split(/^---$/m).filter((text) => text.trim() !== "");
  const objects = documents.map((text) => parseYaml(new TextEncoder().encode(text)).value as Named);
  return new Map(objects.map((object) => [`${object.kind}/${object.metadata.name}`, object]));
}

interface Kind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly isNamespaced: boolean;
}

/** Set by the server. */
const OF_EVERY_NAMESPACE = "ServiceAccount/default";

export class Kinds {
  readonly #server: TestApiServer;
  readonly #kinds: readonly Kind[];

  private constructor(server: TestApiServer, kinds: readonly Kind[]) {
    this.#server = server;
    this.#kinds = kinds;
  }

  /** Every kind that can be listed. */
  static async of(server: TestApiServer): Promise<Kinds> {
    const { groups } = await read<{ readonly groups: readonly Group[] }>(server, "/apis");
    const versions = ["v1", ...groups.map(({ preferredVersion }) => preferredVersion.groupVersion)];
    const kinds = await Promise.all(versions.map((apiVersion) => kindsOf(server, apiVersion)));
    return new Kinds(server, kinds.flat());
  }

  /** Returns the stored object; undefined if it does not exist. */
  async find({ apiVersion, kind, metadata }: Named, namespace: string): Promise<Named | undefined> {
    const isOf = (other: Kind): boolean => other.apiVersion === apiVersion && other.kind === kind;
    // A chart may bring kinds of its own.
    const known = this.#kinds.find(isOf) ?? (await kindsOf(this.#server, apiVersion)).find(isOf);
    if (known === undefined) throw new Error(`Cannot find ${kind}/${metadata.name}: ${apiVersion} has no such kind`);
    const { code, body } = await this.#server.ask("GET", `${pathOf(known, namespace)}/${metadata.name}`);
    return code === 404 ? undefined : (JSON.parse(body) as Named);
  }

  /** Everything in the namespace except for the default contents, and all other objects labelled with a release there. */
  async leftIn(namespace: string): Promise<readonly string[]> {
    const lists = await Promise.all(
      this.#kinds.map(async (kind) => {
        const { items } = await read<{ readonly items: readonly Named[] }>(this.#server, pathOf(kind, namespace));
        const isOfRelease = ({ metadata }: Named) => metadata.annotations?.["meta.helm.sh/release-namespace"] === namespace;
        return items.filter((object) => kind.isNamespaced || isOfRelease(object)).map(({ metadata }) => `${kind.kind}/${metadata.name}`);
      }),
    );
    return lists.flat().filter((name) => name !== OF_EVERY_NAMESPACE);
  }
}

interface Group {
  readonly preferredVersion: { readonly groupVersion: string };
}

interface ApiResource {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}

async function kindsOf(server: TestApiServer, apiVersion: string): Promise<readonly Kind[]> {
  const { resources } = await read<{ readonly resources: readonly ApiResource[] }>(server, rootOf(apiVersion));
  const listed = resources.filter(({ verbs }) => verbs.includes("list"));
  return listed.map(({ name, kind, namespaced }) => ({ apiVersion, kind, plural: name, isNamespaced: namespaced }));
}

function rootOf(apiVersion: string): string {
  return apiVersion === "v1" ? "/api/v1" : `/apis/${apiVersion}`;
}

function pathOf({ apiVersion, plural, isNamespaced }: Kind, namespace: string): string {
  return `${rootOf(apiVersion)}${isNamespaced ? `/namespaces/${namespace}` : ""}/${plural}`;
}

async function read<Body>(server: TestApiServer, path: string): Promise<Body> {
  const { code, body } = await server.ask("GET", path);
  if (code !== 200) throw new Error(`Cannot read ${path}: the server answered ${code}: ${body}`);
  return JSON.parse(body) as Body;
}

/** Reduces `actual` to the fields in `expected`, so that the two can be compared. Lists are compared whole. */
export function partLike(actual: unknown, expected: unknown): unknown {
  if (Array.isArray(expected)) return Array.isArray(actual) ? actual.map((item, index) => partLike(item, expected[index])) : actual;
  if (typeof expected !== "object" || expected === null || typeof actual !== "object" || actual === null) return actual;
  const members = actual as Readonly<Record<string, unknown>>;
  return Object.fromEntries(Object.entries(expected).map(([key, value]) => [key, partLike(members[key], value)]));
}
