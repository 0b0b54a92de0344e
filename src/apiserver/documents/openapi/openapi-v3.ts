/**
 * /openapi/v3: an index of documents with their hashes, and the documents. Clients cache a document while its hash is in the index
 * (kubectl: on disk), so the hash is of the sent bytes. The index requires all documents. A document is cached until its own endpoints
 * change. Of an aggregated server that has OpenAPI v2 only, the document is converted.
 */
import { signalOf } from "../../../base/abort.ts";
import type { Clock } from "../../../base/clock.ts";
import { JSON_TYPE, negotiate, notAcceptable } from "../../../api/machinery/codec/media-type.ts";
import { writeJson } from "../../../api/machinery/codec/json.ts";
import type { JsonObject } from "../../../api/machinery/object.ts";
import { noSuchPath } from "../../../api/machinery/status-error.ts";
import type { Aggregation, RemoteApi, RemoteRequest } from "../../framework/apis/aggregation.ts";
import type { Document, DocumentDependencies } from "../../framework/document.ts";
import type { Endpoint } from "../../framework/endpoints.ts";
import { entityTag, hashOf, hasAlready } from "../../shared/entity-tag.ts";
import type { ExchangeRequest, WholeAnswer } from "../../framework/exchange.ts";
import { sourcesOf, type DocumentSource } from "./sources.ts";
import { TypeSchemas } from "./type-schemas.ts";
import { v3Document } from "./v3-document.ts";
import { v3FromV2 } from "./v3-from-v2.ts";

const ROOT = "/openapi/v3";
/** Cache lifetime of a document; its URL changes with its content. */
const KEEP_MS = 365 * 24 * 3_600_000;

type Dependencies = Pick<DocumentDependencies, "endpoints" | "server" | "loadDescriptions">;

export function openApiV3Document(dependencies: Dependencies): Document {
  const documents = new Documents(dependencies);
  const { clock } = dependencies.server;
  return {
    name: "openapi/v3",
    answers: (path) => path === ROOT || path.startsWith(`${ROOT}/`),
    listedPaths: () => [ROOT, `${ROOT}/`],
    async answer(request, path) {
      const { aggregation } = dependencies.server;
      if (path === ROOT) return answerIndex(await documents.index(), remoteUrls(aggregation));
      const remote = remoteAt(aggregation, path.slice(ROOT.length + 1));
      if (remote !== undefined) return remote.forward(remoteRequest(request));
      const made = await documents.get(path.slice(ROOT.length + 1));
      if (made === undefined) throw noSuchPath();
      return answerDocument(request, path, made, clock);
    },
  };
}

/** By path below the root. */
function remoteUrls(aggregation: Aggregation): ReadonlyMap<string, string> {
  return new Map(Array.from(aggregation.all(), ({ openApiV3 }) => [...openApiV3]).flat());
}

function remoteAt(aggregation: Aggregation, path: string): RemoteApi | undefined {
  for (const remote of aggregation.all()) if (remote.openApiV3.has(path)) return remote;
  return undefined;
}

/** OpenAPI v2 parts of servers without OpenAPI v3, by the path of their document below the root. */
function convertedParts(aggregation: Aggregation): ReadonlyMap<string, JsonObject> {
  return new Map(
    Array.from(aggregation.all(), ({ group, version, openApiV2, openApiV3 }) =>
      openApiV2 === undefined || openApiV3.size > 0 ? [] : [[`apis/${group}/${version}`, openApiV2] as const],
    ).flat(),
  );
}

/** As upstream names it. A client that may read the documents of this server may read those of the others. */
const READER = { name: "system:aggregator", groups: [] };

function remoteRequest(request: ExchangeRequest): RemoteRequest {
  const { method, path, query, signal } = request;
  const names = ["accept", "accept-encoding", "if-none-match", "user-agent"];
  const headers = Object.fromEntries(names.map((name) => [name, request.headerValues(name)]).filter(([, values]) => values?.length !== 0));
  return { user: READER, method, target: query === "" ? path : `${path}?${query}`, headers, signal: signalOf(signal) };
}

interface BuiltDocument {
  readonly body: Uint8Array;
  readonly hash: string;
}

/** A document, possibly being built, and its source. */
interface Making {
  readonly source: DocumentSource;
  readonly made: Promise<BuiltDocument>;
}

class Documents {
  readonly #dependencies: Dependencies;
  /** Valid until the served resources change. */
  #sources: ReadonlyMap<string, DocumentSource> | undefined;
  #types: Promise<TypeSchemas> | undefined;
  readonly #making = new Map<string, Making>();
  /** By the OpenAPI v2 part that they were converted from. */
  readonly #fromV2 = new WeakMap<JsonObject, BuiltDocument>();

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
    const changed = (): void => void (this.#sources = undefined);
    dependencies.endpoints.onChange(changed);
    dependencies.server.aggregation.onChange(changed);
  }

  async index(): Promise<ReadonlyMap<string, string>> {
    const hashes = new Map<string, string>();
    const { aggregation } = this.#dependencies.server;
    for (const path of [...this.#present().keys(), ...convertedParts(aggregation).keys()]) {
      const made = await this.get(path);
      if (made !== undefined) hashes.set(path, made.hash);
    }
    return hashes;
  }

  async get(path: string): Promise<BuiltDocument | undefined> {
    const part = convertedParts(this.#dependencies.server.aggregation).get(path);
    if (part !== undefined) return this.#converted(part);
    const source = this.#present().get(path);
    if (source === undefined) return undefined;
    const known = this.#making.get(path);
    if (known !== undefined && isSame(known.source, source)) return known.made;
    const made = this.#make(source);
    this.#making.set(path, { source, made });
    // The next request retries.
    made.catch(() => this.#making.delete(path));
    return made;
  }

  #converted(part: JsonObject): BuiltDocument {
    const known = this.#fromV2.get(part);
    if (known !== undefined) return known;
    const body = new TextEncoder().encode(writeJson(v3FromV2(part)));
    const made = { body, hash: hashOf(body) };
    this.#fromV2.set(part, made);
    return made;
  }

  /** Large ones take tens of milliseconds, so the event loop gets a tick in between. */
  async #make(source: DocumentSource): Promise<BuiltDocument> {
    const types = await this.#typesOnce();
    const body = new TextEncoder().encode(writeJson(v3Document(source.make(), types)));
    await this.#dependencies.server.clock.sleep(0);
    return { body, hash: hashOf(body) };
  }

  #present(): ReadonlyMap<string, DocumentSource> {
    if (this.#sources !== undefined) return this.#sources;
    const { endpoints, server } = this.#dependencies;
    const isLocal = ({ served }: Endpoint): boolean => server.aggregation.remote(served.group, served.version) === undefined;
    this.#sources = sourcesOf([...endpoints.all()].filter(isLocal));
    for (const path of this.#making.keys()) if (!this.#sources.has(path)) this.#making.delete(path);
    return this.#sources;
  }

  #typesOnce(): Promise<TypeSchemas> {
    if (this.#types !== undefined) return this.#types;
    const types = this.#loadTypes();
    types.catch(() => (this.#types = undefined));
    return (this.#types = types);
  }

  async #loadTypes(): Promise<TypeSchemas> {
    const { server, loadDescriptions } = this.#dependencies;
    return new TypeSchemas({ dialect: "v3", schemas: server.schemas, descriptions: await loadDescriptions() });
  }
}

function isSame(a: DocumentSource, b: DocumentSource): boolean {
  return a.endpoints.length === b.endpoints.length && a.endpoints.every((endpoint, index) => endpoint === b.endpoints[index]);
}

function answerIndex(hashes: ReadonlyMap<string, string>, remote: ReadonlyMap<string, string>): WholeAnswer {
  const own = Array.from(hashes, ([path, hash]) => [path, urlOf(`${ROOT}/${path}`, hash)] as const);
  const paths = [...own, ...remote].map(([path, serverRelativeURL]) => [path, { serverRelativeURL }] as const);
  const body = new TextEncoder().encode(writeJson({ paths: Object.fromEntries(paths) }));
  return { code: 200, headers: { "content-type": JSON_TYPE, "cache-control": "no-cache, private" }, body: [body] };
}

function urlOf(path: string, hash: string): string {
  return `${path}?hash=${hash}`;
}

function answerDocument(request: ExchangeRequest, path: string, { body, hash }: BuiltDocument, clock: Clock): WholeAnswer {
  if (negotiate(request.header("accept"), [JSON_TYPE], () => true) === undefined) throw notAcceptable([JSON_TYPE]);
  const asked = new URLSearchParams(request.query).get("hash");
  const headers = { etag: entityTag(hash), vary: "Accept", ...cachingOf(asked === hash, clock) };
  // A request with an outdated hash is redirected, so that the client does not cache the document under the old URL.
  if (asked !== null && asked !== "" && asked !== hash)
    return { code: 301, headers: { ...headers, location: urlOf(path, hash) }, body: [] };
  if (hasAlready(request, hash)) return { code: 304, headers, body: [] };
  return { code: 200, headers: { ...headers, "content-type": JSON_TYPE }, body: [body] };
}

function cachingOf(isForever: boolean, clock: Clock): Record<string, string> {
  if (!isForever) return { "cache-control": "no-cache, private" };
  return { "cache-control": "public, immutable", expires: new Date(clock.now() + KEEP_MS).toUTCString() };
}
