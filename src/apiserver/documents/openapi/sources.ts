/** The documents and their source endpoints: one per group and version, and small ones of the server itself. */
import { apiVersionOf, type GroupVersion } from "../../../api/machinery/object.ts";
import type { PublishedType } from "../../../api/machinery/resource.ts";
import type { ObjectSchema } from "../../../api/machinery/schema.ts";
import type { Endpoint } from "../../framework/endpoints.ts";
import { discoveryPath, groupTitle, listTypeOf, META_TYPES, pathsOf, readingPath } from "./operations.ts";
import type { OwnType } from "./own-type.ts";
import { listType, objectType } from "./published-types.ts";
import type { ApiPath } from "./api-path.ts";

/** Source of a document. */
export interface DocumentContent {
  /** Absent for documents of the server itself. */
  readonly place?: GroupVersion;
  readonly paths: readonly ApiPath[];
  /** Types outside the common set. */
  readonly own: ReadonlyMap<string, ObjectSchema | OwnType>;
}

export interface DocumentSource {
  /** None for static documents. */
  readonly endpoints: readonly Endpoint[];
  make(): DocumentContent;
}

/** Keyed by the path below /openapi/v3/: "api/v1", "apis/apps/v1", "version". */
export function sourcesOf(endpoints: Iterable<Endpoint>): ReadonlyMap<string, DocumentSource> {
  const places = new Map<string, Endpoint[]>();
  for (const endpoint of endpoints) {
    const { served } = endpoint;
    const path = served.group === "" ? `api/${served.version}` : `apis/${apiVersionOf(served)}`;
    places.set(path, [...(places.get(path) ?? []), endpoint]);
  }
  const groups = new Set([...places.values()].flatMap(([first]) => (first === undefined ? [] : first.served.group)));
  const sources: (readonly [string, DocumentSource])[] = [
    ...SERVER_SOURCES,
    ...[...groups].filter((group) => group !== "").map((group) => [`apis/${group}`, groupSource(group)] as const),
    ...Array.from(places, ([path, served]) => [path, endpointsSource(served)] as const),
  ];
  return new Map(sources.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function endpointsSource(endpoints: readonly Endpoint[]): DocumentSource {
  return {
    endpoints,
    make() {
      const place = endpoints[0]?.served ?? { group: "", version: "" };
      const own = new Map(endpoints.flatMap(typesOf));
      return { place, own, paths: [discoveryPath(place), ...endpoints.flatMap(pathsOf)] };
    },
  };
}

/** The types of an endpoint outside the common set, by name. */
function typesOf(endpoint: Endpoint): readonly (readonly [string, ObjectSchema | OwnType])[] {
  const { resource, served, listKind } = endpoint;
  const { group, version, published } = served;
  if (published === undefined) return [[served.schema, endpoint.schema]];
  const known = ownTypes.get(published);
  if (known !== undefined) return known;
  const types = [
    [served.schema, objectType({ group, version, kind: resource.kind }, published)],
    [listTypeOf(endpoint), listType({ group, version, kind: listKind, plural: resource.plural }, served.schema, published)],
  ] as const;
  ownTypes.set(published, types);
  return types;
}

/** The same values as long as a type is the same, so that their definitions are built once. */
const ownTypes = new WeakMap<PublishedType, readonly (readonly [string, OwnType])[]>();

type Reading = Parameters<typeof readingPath>;

function readingSource(...reading: Reading): DocumentSource {
  return { endpoints: [], make: () => ({ paths: [readingPath(...reading)], own: new Map() }) };
}

function groupSource(group: string): DocumentSource {
  const title = groupTitle(group);
  return readingSource(`/apis/${group}/`, {
    id: `get${title}APIGroup`,
    description: "get information of a group",
    tag: title.charAt(0).toLowerCase() + title.slice(1),
    answer: `${META_TYPES}.APIGroup`,
  });
}

const SERVER_SOURCES: readonly (readonly [string, DocumentSource])[] = [
  [
    "api",
    readingSource("/api/", {
      id: "getCoreAPIVersions",
      description: "get available API versions",
      tag: "core",
      answer: `${META_TYPES}.APIVersions`,
    }),
  ],
  [
    "apis",
    readingSource("/apis/", {
      id: "getAPIVersions",
      description: "get available API versions",
      tag: "apis",
      answer: `${META_TYPES}.APIGroupList`,
    }),
  ],
  [
    "version",
    readingSource("/version/", {
      id: "getCodeVersion",
      description: "get the version information for this server",
      tag: "version",
      answer: "io.k8s.apimachinery.pkg.version.Info",
      form: "json",
    }),
  ],
];
