/**
 * Fetches the documents of one aggregated API server about one group and version: discovery in either form, its part of OpenAPI v2, and the
 * URLs of its OpenAPI v3 documents. Bounded in time and size; unchanged documents are recognised by their entity tags.
 */
import { isObject, type GroupVersion, type JsonObject } from "../../api/machinery/object.ts";
import { readObject } from "../../api/machinery/wire/response-body.ts";
import type { Clock } from "../../base/clock.ts";
import type { RemoteDiscovery } from "../framework/apis/aggregation.ts";
import type { ExchangeAnswer } from "../framework/exchange.ts";
import type { User } from "../framework/request.ts";
import { answerBytes } from "../shared/answer-bytes.ts";
import { discoveryPath } from "./api-service.ts";
import { resourcesInGroups, resourcesInList } from "./discovered-resources.ts";
import { openApiPart } from "./open-api-part.ts";
import { AGGREGATOR } from "./probe.ts";
import { discard, withTimeout, type RemoteServer } from "./remote-server.ts";

/** As upstream for discovery; its OpenAPI documents may take a minute, here the others of the server would wait for them. */
const FETCH_TIMEOUT_MS = 5_000;
/** Ten times that of a server with all built-in groups. */
const DISCOVERY_BYTES_MAX = 4 << 20;
/** Four times that of all built-in groups; parsing it takes a quarter of a second. */
const OPEN_API_BYTES_MAX = 16 << 20;

const JSON_TYPE = "application/json";
const GROUPS_TYPE = ["v2", "v2beta1"]
  .map((version) => `${JSON_TYPE};g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .join(",");

/** As upstream; other servers may log it. */
const OPEN_API_READER: User = { name: "system:aggregator", groups: [] };

export interface RemoteDocuments {
  readonly discovery: RemoteDiscovery;
  readonly openApiV2?: JsonObject;
  readonly openApiV3: ReadonlyMap<string, string>;
}

/** Of a server that was never asked, or does not respond. */
export const STALE: RemoteDocuments = { discovery: { freshness: "Stale", resources: [] }, openApiV3: new Map() };

interface Fetched {
  readonly document: JsonObject;
  readonly tag: string;
  /** By its media type, the aggregated form of discovery. */
  readonly isOfGroups: boolean;
}

export class DocumentFetcher {
  readonly #place: GroupVersion;
  readonly #clock: Clock;
  /** By path, if the server sent an entity tag. */
  readonly #known = new Map<string, Fetched>();

  constructor(place: GroupVersion, clock: Clock) {
    this.#place = place;
    this.#clock = clock;
  }

  /** Rejects if the server does not respond to discovery. Without OpenAPI documents it is usable all the same. */
  async fetch(server: RemoteServer): Promise<RemoteDocuments> {
    const resources = await this.#resources(server);
    const [v2, v3] = await Promise.all([
      this.#openApiV2(server).catch(() => undefined),
      this.#openApiV3(server).catch(() => STALE.openApiV3),
    ]);
    return { discovery: { freshness: "Current", resources }, ...(v2 === undefined ? {} : { openApiV2: v2 }), openApiV3: v3 };
  }

  async #resources(server: RemoteServer): Promise<readonly JsonObject[]> {
    const reading = { server, user: AGGREGATOR, bytesMax: DISCOVERY_BYTES_MAX };
    const groups = await this.#read("/apis", { ...reading, accept: GROUPS_TYPE });
    if (groups?.isOfGroups === true) return resourcesInGroups(groups.document, this.#place) ?? [];
    const path = discoveryPath(this.#place);
    const list = await this.#read(path, { ...reading, accept: JSON_TYPE });
    if (list === undefined) throw new Error(`failed to download legacy discovery for ${path}`);
    return resourcesInList(list.document, this.#place);
  }

  async #openApiV2(server: RemoteServer): Promise<JsonObject | undefined> {
    const part = (document: JsonObject): JsonObject => openApiPart(document, this.#place) ?? {};
    const reading = { server, accept: JSON_TYPE, user: OPEN_API_READER, bytesMax: OPEN_API_BYTES_MAX, part };
    const document = (await this.#read("/openapi/v2", reading))?.document;
    return document?.["paths"] === undefined ? undefined : document;
  }

  async #openApiV3(server: RemoteServer): Promise<ReadonlyMap<string, string>> {
    const reading = { server, accept: JSON_TYPE, user: OPEN_API_READER, bytesMax: DISCOVERY_BYTES_MAX };
    const paths = (await this.#read("/openapi/v3", reading))?.document["paths"];
    const path = discoveryPath(this.#place).slice(1);
    const entry = isObject(paths) && Object.hasOwn(paths, path) ? paths[path] : undefined;
    const url = isObject(entry) ? entry["serverRelativeURL"] : undefined;
    return new Map(typeof url === "string" && url.startsWith("/openapi/v3/") ? [[path, url]] : []);
  }

  /** Undefined: the server does not have it. */
  async #read(path: string, options: ReadOptions): Promise<Fetched | undefined> {
    const { server, accept, user, bytesMax } = options;
    const known = this.#known.get(path);
    return withTimeout(this.#clock, FETCH_TIMEOUT_MS, undefined, async (signal) => {
      const headers = { accept, ...(known === undefined ? {} : { "if-none-match": known.tag }) };
      const answer = await server.forward({ user, method: "GET", target: path, headers, signal });
      const code = "code" in answer ? answer.code : 101;
      if (code === 304 && known !== undefined) {
        discard(answer);
        return known;
      }
      if (code !== 200) {
        discard(answer);
        if (code === 503) throw new Error(`${path} was answered with 503`);
        return undefined;
      }
      return this.#keep(path, answer, await answerBytes(answer, bytesMax, signal), options);
    });
  }

  #keep(path: string, answer: ExchangeAnswer, bytes: Uint8Array, { part = (document) => document }: ReadOptions): Fetched {
    const headers = "headers" in answer ? answer.headers : {};
    const type = String(headers["content-type"] ?? "").replaceAll(/\s/g, "");
    const fetched = {
      document: part(readObject(bytes, { path, mediaType: type })),
      tag: String(headers["etag"] ?? ""),
      isOfGroups: type.includes("g=apidiscovery.k8s.io") && type.includes("as=APIGroupDiscoveryList"),
    };
    if (fetched.tag !== "") this.#known.set(path, fetched);
    else this.#known.delete(path);
    return fetched;
  }
}

interface ReadOptions {
  readonly server: RemoteServer;
  readonly accept: string;
  readonly user: User;
  readonly bytesMax: number;
  /** What is kept of the document. Default: all. */
  readonly part?: (document: JsonObject) => JsonObject;
}
