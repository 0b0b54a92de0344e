/**
 * Discovery: /api, /apis and below. Plain documents, and on the two roots the aggregated one for clients that accept it. Each is built on
 * first request and cached until the served resources change.
 */
import { writeJson } from "../../../api/machinery/codec/json.ts";
import {
  BUILT_IN_TYPES,
  JSON_TYPE,
  negotiate,
  namesOneOf,
  noRepresentation,
  notAcceptable,
  PROTOBUF_TYPE,
  YAML_TYPE,
  type NegotiatedType,
} from "../../../api/machinery/codec/media-type.ts";
import { encodeEnvelope, encodeProtobuf } from "../../../api/machinery/codec/protobuf/protobuf.ts";
import { writeYaml } from "../../../api/machinery/codec/yaml/write.ts";
import type { SchemaSet } from "../../../api/machinery/schema.ts";
import { internalError, noSuchPath } from "../../../api/machinery/status-error.ts";
import type { Document, DocumentDependencies } from "../../framework/document.ts";
import type { ServerContext } from "../../framework/server-context.ts";
import type { Endpoints } from "../../framework/endpoints.ts";
import { entityTag, hashOf, hasAlready } from "../../shared/entity-tag.ts";
import type { ExchangeRequest, WholeAnswer } from "../../framework/exchange.ts";
import { isPretty, prettyJson } from "../../shared/pretty-json.ts";
import { apiGroupDiscoveryList } from "./aggregated.ts";
import { groupsOf, type OtherApis, type DiscoveredGroup, type DiscoveryObject } from "./groups.ts";
import { apiGroup, apiGroupList, apiResourceList, apiVersions } from "./plain.ts";

const AGGREGATED = { group: "apidiscovery.k8s.io", version: "v2", kind: "APIGroupDiscoveryList" };
const AGGREGATED_PARAMETERS = `;g=${AGGREGATED.group};v=${AGGREGATED.version};as=${AGGREGATED.kind}`;
const PLAIN_TYPES = "io.k8s.apimachinery.pkg.apis.meta.v1";
const AGGREGATED_TYPES = "io.k8s.api.apidiscovery.v2";

interface Kept {
  readonly body: Uint8Array;
  readonly hash: string;
}

export function discoveryDocument({ endpoints, server }: Pick<DocumentDependencies, "endpoints" | "server">): Document {
  const { dynamicApis } = server;
  const discovery = new Discovery(endpoints, server);
  return {
    name: "discovery",
    answers: (path) => /^\/(?:api(?:\/[^/]+)?|apis(?:\/[^/]+){0,2})$/.test(path),
    listedPaths: () => discoveryPaths(endpoints, server),
    async answer(request, path) {
      await dynamicApis.find(({ group, version }) => path === `/apis/${group}/${version}`)?.refresh();
      return discovery.answer(request, path);
    },
  };
}

function discoveryPaths(endpoints: Endpoints, { aggregation, dynamicApis }: OtherApis): readonly string[] {
  const paths = new Set(["/api", "/apis", "/apis/"]);
  for (const { served } of endpoints.all()) {
    if (served.group === "") paths.add(`/api/${served.version}`);
    else paths.add(`/apis/${served.group}`).add(`/apis/${served.group}/${served.version}`);
  }
  for (const { group, version } of [...dynamicApis, ...aggregation.all(), ...aggregation.local()])
    paths.add(`/apis/${group}`).add(`/apis/${group}/${version}`);
  return [...paths];
}

class Discovery {
  readonly #endpoints: Endpoints;
  readonly #schemas: SchemaSet;
  readonly #others: OtherApis;
  #groups: readonly DiscoveredGroup[] | undefined;
  /** Keyed by path and content type. */
  readonly #kept = new Map<string, Kept>();

  constructor(endpoints: Endpoints, { schemas, aggregation, dynamicApis }: Pick<ServerContext, "schemas"> & OtherApis) {
    this.#endpoints = endpoints;
    this.#schemas = schemas;
    this.#others = { aggregation, dynamicApis };
    const forget = (): void => {
      this.#groups = undefined;
      this.#kept.clear();
    };
    endpoints.onChange(forget);
    aggregation.onChange(forget);
    for (const api of dynamicApis) api.onChange(forget);
  }

  answer(request: ExchangeRequest, path: string): WholeAnswer {
    const isRoot = path === "/api" || path === "/apis";
    const form = negotiateForm(request.header("accept"), isRoot);
    const isAggregated = form.convert !== undefined;
    const contentType = isAggregated ? `${form.mediaType}${AGGREGATED_PARAMETERS}` : form.mediaType;
    const pretty = isPretty(request);
    const { body, hash } = this.#keep(path, pretty ? `${contentType} pretty` : contentType, () => this.#write(path, form, pretty));
    if (!isAggregated) {
      const headers = { "content-type": contentType, "cache-control": "no-cache, private", ...(isRoot ? { vary: "Accept" } : {}) };
      return { code: 200, headers, body: [body] };
    }
    const headers = { etag: entityTag(hash), "cache-control": "public", vary: "Accept" };
    if (hasAlready(request, hash)) return { code: 304, headers, body: [] };
    return { code: 200, headers: { ...headers, "content-type": contentType }, body: [body] };
  }

  #keep(path: string, form: string, make: () => Uint8Array): Kept {
    const key = `${path} ${form}`;
    const known = this.#kept.get(key);
    if (known !== undefined) return known;
    const body = make();
    const made = { body, hash: hashOf(body) };
    this.#kept.set(key, made);
    return made;
  }

  #write(path: string, { mediaType, convert }: NegotiatedType, pretty: boolean): Uint8Array {
    const value = convert === undefined ? this.#plain(path) : this.#aggregated(path);
    if (mediaType === YAML_TYPE) return new TextEncoder().encode(writeYaml(value));
    if (mediaType === PROTOBUF_TYPE) return this.#protobuf(value);
    return new TextEncoder().encode(pretty ? prettyJson(value) : `${writeJson(value)}\n`);
  }

  #protobuf(value: DiscoveryObject): Uint8Array {
    const { kind, apiVersion = "" } = value;
    const name = `${kind === AGGREGATED.kind ? AGGREGATED_TYPES : PLAIN_TYPES}.${kind}`;
    const schema = this.#schemas.get(name);
    if (schema?.type !== "object") throw internalError(new Error(`Schema ${name} does not exist`));
    return encodeEnvelope({ apiVersion, kind, raw: encodeProtobuf(value, schema) });
  }

  #aggregated(path: string): DiscoveryObject {
    return apiGroupDiscoveryList(servedOf(this.#all()).filter(({ name }) => (name === "") === (path === "/api")));
  }

  #plain(path: string): DiscoveryObject {
    const [root, first, second] = path.slice(1).split("/");
    if (root === "api" && first === undefined) return apiVersions(this.#all().find(({ name }) => name === ""));
    if (root === "api") return this.#resources("", first ?? "");
    if (first === undefined) return apiGroupList(this.#all().filter(({ name }) => name !== ""));
    return second === undefined ? apiGroup(this.#group(first)) : this.#resources(first, second);
  }

  #resources(group: string, wanted: string): DiscoveryObject {
    const found = this.#group(group).versions.find(({ version }) => version === wanted);
    if (found === undefined || found.isUnserved === true) throw noSuchPath();
    return apiResourceList(group, found);
  }

  #group(wanted: string): DiscoveredGroup {
    const group = this.#all().find(({ name }) => name === wanted);
    if (group === undefined) throw noSuchPath();
    return group;
  }

  #all(): readonly DiscoveredGroup[] {
    return (this.#groups ??= groupsOf(this.#endpoints.all(), this.#others));
  }
}

function servedOf(groups: readonly DiscoveredGroup[]): readonly DiscoveredGroup[] {
  const served = groups.map(({ name, versions }) => ({ name, versions: versions.filter(({ isUnserved }) => isUnserved !== true) }));
  return served.filter(({ versions }) => versions.length > 0);
}

/** JSON by default, as everywhere. The aggregated document is not available as YAML, and not for a single group. */
function negotiateForm(accept: string | undefined, isRoot: boolean): NegotiatedType {
  const isAcceptable = ({ mediaType, convert, stream }: NegotiatedType): boolean => {
    if (stream !== undefined) return false;
    if (convert === undefined) return true;
    const { group, version, kind } = convert;
    const isAggregated = group === AGGREGATED.group && version === AGGREGATED.version && kind === AGGREGATED.kind;
    return isRoot && mediaType !== YAML_TYPE && isAggregated;
  };
  const form = negotiate(accept, [JSON_TYPE, YAML_TYPE], isAcceptable) ?? negotiate(accept, [PROTOBUF_TYPE], isAcceptable);
  if (form === undefined) throw namesOneOf(accept, BUILT_IN_TYPES) ? notAcceptable(BUILT_IN_TYPES) : noRepresentation(BUILT_IN_TYPES);
  return form;
}
