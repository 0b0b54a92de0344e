/**
 * The operations of each path, as data for both versions of OpenAPI. Paths, operation ids and parameters are upstream's: clients are
 * generated from them, and kubectl looks up the PATCH types.
 */
import type { GroupVersion, GroupVersionKind } from "../../../api/machinery/object.ts";
import type { Subresource, Verb } from "../../../api/machinery/resource.ts";
import type { Endpoint } from "../../framework/endpoints.ts";
import { connectionPaths } from "./connection-paths.ts";
import {
  DELETE_COLLECTION_PARAMETERS,
  DELETE_PARAMETERS,
  LIST_PARAMETERS,
  PATCH_PARAMETERS,
  WRITE_PARAMETERS,
} from "./query-parameters.ts";
import { capitalise, withArticle } from "./word-forms.ts";
import type { ApiPath, Operation, Place } from "./api-path.ts";

export const META_TYPES = "io.k8s.apimachinery.pkg.apis.meta.v1";
const SCALE_TYPE = "io.k8s.api.autoscaling.v1.Scale";

/** "Apps", "RbacAuthorization", "Core": the group as part of operation ids. */
export function groupTitle(group: string): string {
  if (group === "") return "Core";
  return group
    .replace(/\.k8s\.io$/, "")
    .split(".")
    .map(capitalise)
    .join("");
}

/** "core_v1", "rbacAuthorization_v1". */
function tagOf({ group, version }: GroupVersion): string {
  const title = groupTitle(group);
  return `${title.charAt(0).toLowerCase()}${title.slice(1)}_${version}`;
}

export function rootOf({ group, version }: GroupVersion): string {
  return group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
}

export type ReadingOperation = Required<Pick<Operation, "id" | "description" | "tag" | "answer">> & Partial<Pick<Operation, "form">>;

/** A document of the server itself: discovery, the version. */
export function readingPath(path: string, operation: ReadingOperation): ApiPath {
  return { path, inPath: [], nameOf: "", operations: [{ method: "get", query: [], codes: [200], form: "object", ...operation }] };
}

export function discoveryPath(place: GroupVersion): ApiPath {
  return readingPath(`${rootOf(place)}/`, {
    id: `get${groupTitle(place.group)}${capitalise(place.version)}APIResources`,
    description: "get available resources",
    tag: tagOf(place),
    answer: `${META_TYPES}.APIResourceList`,
  });
}

/** All operations of one endpoint. */
export function pathsOf(endpoint: Endpoint): readonly ApiPath[] {
  const place = placeOf(endpoint);
  const paths = [...objectPaths(endpoint, place), ...watchPaths(endpoint, place), ...subresourcePaths(endpoint, place)];
  const offered = paths.filter(({ operations }) => operations.length > 0);
  return endpoint.resource.isTyped === false ? offered.map(untyped) : offered;
}

/** Kinds without a protobuf form are offered as JSON and YAML only. */
function untyped(path: ApiPath): ApiPath {
  return { ...path, operations: path.operations.map((operation) => ({ ...operation, form: "untyped", isUntyped: true })) };
}

/** The OpenAPI name of the type of an endpoint's lists. */
export function listTypeOf({ served, resource, listKind }: Endpoint): string {
  const { schema } = served;
  return schema.endsWith(`.${resource.kind}`) ? `${schema.slice(0, -resource.kind.length)}${listKind}` : `${schema}List`;
}

function placeOf({ resource, served }: Endpoint): Place {
  const { group, version } = served;
  const isNamespaced = resource.scope === "Namespaced";
  return {
    root: rootOf(served),
    collection: isNamespaced ? `/namespaces/{namespace}/${resource.plural}` : `/${resource.plural}`,
    inCollection: isNamespaced ? ["namespace"] : [],
    prefix: `${groupTitle(group)}${capitalise(version)}`,
    noun: isNamespaced ? `Namespaced${resource.kind}` : resource.kind,
    tag: tagOf(served),
    kind: { group, version, kind: resource.kind },
  };
}

function objectPaths(endpoint: Endpoint, { root, collection, inCollection, prefix, noun, tag, kind }: Place): ApiPath[] {
  const { resource, served } = endpoint;
  const { plural, scope, verbs } = resource;
  const object = { type: served.schema, tag, kind };
  const deleted = resource.returnsDeletedObject === true ? served.schema : `${META_TYPES}.Status`;
  const listing = listOperation(`list${prefix}${noun}`, listTypeOf(endpoint), object);
  const list = verbs.includes("watch") ? listing : { ...listing, description: `list objects of kind ${resource.kind}` };
  const ofCollection = operationsOf(verbs, {
    list: () => list,
    create: () => createOperation(`create${prefix}${noun}`, `create ${withArticle(resource.kind)}`, object),
    deletecollection: () => deleteCollectionOperation(`delete${prefix}Collection${noun}`, object),
  });
  const ofObject = operationsOf(verbs, {
    ...writeOperations(`${prefix}${noun}`, `the specified ${resource.kind}`, object),
    delete: () => deleteOperation(`delete${prefix}${noun}`, deleted, object),
  });
  const everywhere = { ...list, id: `list${prefix}${resource.kind}ForAllNamespaces` };
  const hasEverywhere = scope === "Namespaced" && verbs.includes("list");
  const nameOf = resource.kind;
  return [
    { path: `${root}${collection}`, inPath: inCollection, nameOf, operations: ofCollection },
    { path: `${root}${collection}/{name}`, inPath: ["name", ...inCollection], nameOf, operations: ofObject },
    ...(hasEverywhere ? [{ path: `${root}/${plural}`, inPath: [], nameOf, operations: [everywhere] }] : []),
  ];
}

/** The deprecated watch path; new clients list with `watch`. */
function watchPaths({ resource }: Endpoint, { root, collection, inCollection, prefix, noun, tag, kind }: Place): ApiPath[] {
  if (!resource.verbs.includes("watch") || resource.isTyped === false) return [];
  const nameOf = resource.kind;
  const watch = (id: string, action: "watch" | "watchlist"): Operation[] => [
    {
      method: "get",
      id: `watch${prefix}${id}`,
      description:
        action === "watch"
          ? `watch changes to an object of kind ${nameOf}. deprecated: use the 'watch' parameter with a list operation instead, filtered to a single item with the 'fieldSelector' parameter.`
          : `watch individual changes to a list of ${nameOf}. deprecated: use the 'watch' parameter with a list operation instead.`,
      tag,
      query: LIST_PARAMETERS,
      codes: [200],
      answer: `${META_TYPES}.WatchEvent`,
      form: "stream",
      action,
      kind,
    },
  ];
  const everywhere = {
    path: `${root}/watch/${resource.plural}`,
    inPath: [],
    nameOf,
    operations: watch(`${nameOf}ListForAllNamespaces`, "watchlist"),
  };
  return [
    { path: `${root}/watch${collection}`, inPath: inCollection, nameOf, operations: watch(`${noun}List`, "watchlist") },
    { path: `${root}/watch${collection}/{name}`, inPath: ["name", ...inCollection], nameOf, operations: watch(noun, "watch") },
    ...(resource.scope === "Namespaced" ? [everywhere] : []),
  ];
}

function subresourcePaths(endpoint: Endpoint, place: Place): ApiPath[] {
  const { resource, served } = endpoint;
  const { root, collection, inCollection, prefix, noun, tag, kind } = place;
  return Object.entries(resource.subresources).flatMap(([name, subresource]) => {
    if (subresource.of === "connection") return connectionPaths(resource, place, { name, connection: subresource });
    const object = { tag, ...contentOf(subresource, { type: served.schema, kind }) };
    const id = `${prefix}${noun}${capitalise(name)}`;
    const operations = operationsOf(subresource.verbs, {
      ...writeOperations(id, `${name} of the specified ${resource.kind}`, object),
      create: () => createOperation(`create${id}`, `create ${name} of ${withArticle(resource.kind)}`, object),
    });
    const path = `${root}${collection}/{name}/${name}`;
    return [{ path, inPath: ["name" as const, ...inCollection], nameOf: object.kind.kind, operations }];
  });
}

/** Request and response type. */
interface Content {
  readonly type: string;
  readonly kind: GroupVersionKind;
}

function contentOf(subresource: Exclude<Subresource, { readonly of: "connection" }>, own: Content): Content {
  switch (subresource.of) {
    case "object":
      return own;
    case "scale":
      return { type: SCALE_TYPE, kind: { group: "autoscaling", version: "v1", kind: "Scale" } };
    case "action": {
      const { schema, ...kind } = subresource.takes;
      return { type: schema, kind };
    }
  }
}

type Subject = Content & { readonly tag: string };

function operationsOf(verbs: readonly Verb[], make: Partial<Record<Verb, () => Operation>>): readonly Operation[] {
  return verbs.flatMap((verb) => make[verb]?.() ?? []);
}

function writeOperations(id: string, what: string, subject: Subject): Partial<Record<Verb, () => Operation>> {
  const { type, tag, kind } = subject;
  const common = { tag, kind, answer: type, form: "object" as const };
  return {
    get: () => ({ ...common, method: "get", id: `read${id}`, description: `read ${what}`, query: [], codes: [200], action: "get" }),
    update: () => ({
      ...common,
      method: "put",
      id: `replace${id}`,
      description: `replace ${what}`,
      query: WRITE_PARAMETERS,
      body: { type, isRequired: true, isPatch: false },
      codes: [200, 201],
      action: "put",
    }),
    patch: () => ({
      ...common,
      method: "patch",
      id: `patch${id}`,
      description: `partially update ${what}`,
      query: PATCH_PARAMETERS,
      body: { type: `${META_TYPES}.Patch`, isRequired: true, isPatch: true },
      codes: [200, 201],
      action: "patch",
    }),
  };
}

function listOperation(id: string, answer: string, { tag, kind }: Subject): Operation {
  const description = `list or watch objects of kind ${kind.kind}`;
  return { method: "get", id, description, tag, query: LIST_PARAMETERS, codes: [200], answer, form: "stream", action: "list", kind };
}

function createOperation(id: string, description: string, { type, tag, kind }: Subject): Operation {
  const body = { type, isRequired: true, isPatch: false };
  const common = { tag, kind, answer: type, form: "object" as const };
  return { ...common, method: "post", id, description, query: WRITE_PARAMETERS, body, codes: [200, 201, 202], action: "post" };
}

const DELETE_BODY = { type: `${META_TYPES}.DeleteOptions`, isRequired: false, isPatch: false };

function deleteOperation(id: string, answer: string, { tag, kind }: Subject): Operation {
  const common = { tag, kind, answer, form: "object" as const, body: DELETE_BODY };
  const description = `delete ${withArticle(kind.kind)}`;
  return { ...common, method: "delete", id, description, query: DELETE_PARAMETERS, codes: [200, 202], action: "delete" };
}

function deleteCollectionOperation(id: string, { tag, kind }: Subject): Operation {
  const common = { tag, kind, answer: `${META_TYPES}.Status`, form: "object" as const, body: DELETE_BODY };
  const description = `delete collection of ${kind.kind}`;
  return { ...common, method: "delete", id, description, query: DELETE_COLLECTION_PARAMETERS, codes: [200], action: "deletecollection" };
}

/** A plural has no article. */
