/** The paths of connections (log, exec, attach, portforward, proxy) in OpenAPI. */
import type { Resource, Subresource, Verb } from "../../../api/machinery/resource.ts";
import { capitalise } from "./word-forms.ts";
import type { ApiPath, Method, Operation, Place } from "./api-path.ts";

type Connection = Extract<Subresource, { readonly of: "connection" }>;

const METHODS: Partial<Record<Verb, Method>> = { get: "get", update: "put", create: "post", delete: "delete", patch: "patch" };

export interface NamedConnection {
  readonly name: string;
  readonly connection: Connection;
}

export function connectionPaths({ kind }: Resource, place: Place, { name, connection }: NamedConnection): ApiPath[] {
  const { root, collection, inCollection } = place;
  const path = `${root}${collection}/{name}/${name}`;
  const inPath = ["name" as const, ...inCollection];
  const { schema: options } = connection.options;
  if (connection.answersText === true) return [{ path, inPath, options, nameOf: kind, operations: [readOperation(name, place)] }];
  const of = { inPath, options, nameOf: connection.options.kind };
  const operations = (suffix: string) =>
    methodsOf(connection).map((method) => connectOperation(method, place, { name, connection, suffix }));
  if (connection.forwards !== true) return [{ path, ...of, operations: operations("") }];
  return [
    { path, ...of, operations: operations("") },
    { path: `${path}/{path}`, ...of, inPath: [...inPath, "path"], operations: operations("WithPath") },
  ];
}

function methodsOf({ verbs, forwards }: Connection): readonly Method[] {
  const named = verbs.flatMap((verb) => METHODS[verb] ?? []);
  return forwards === true ? [...named, "head", "options"] : named;
}

function readOperation(name: string, { prefix, noun, tag, kind }: Place): Operation {
  return {
    method: "get",
    id: `read${prefix}${noun}${capitalise(name)}`,
    description: `read ${name} of the specified ${kind.kind}`,
    tag,
    query: [],
    codes: [200],
    form: "text",
    action: "get",
    kind,
  };
}

function connectOperation(
  method: Method,
  { prefix, noun, tag, kind }: Place,
  { name, connection, suffix }: NamedConnection & { readonly suffix: string },
): Operation {
  const { schema: _schema, ...optionsKind } = connection.options;
  return {
    method,
    id: `connect${prefix}${capitalise(method)}${noun}${capitalise(name)}${suffix}`,
    description: `connect ${method.toUpperCase()} requests to ${name} of ${kind.kind}`,
    tag,
    query: [],
    codes: [200],
    form: "any",
    action: "connect",
    kind: optionsKind,
  };
}
