/** Which parameters stand at a path, because all of its operations have them, and which at an operation. */
import type { ApiPath, Operation } from "./operations.ts";
import { QUERY_PARAMETERS, type Parameter, type QueryParameter } from "./query-parameters.ts";

export interface NamedParameter extends Parameter {
  readonly name: string;
}

export interface PathParameters {
  readonly common: readonly NamedParameter[];
  of(operation: Operation): readonly NamedParameter[];
}

export function parametersOf({ inPath, nameOf, operations }: ApiPath): PathParameters {
  const [first, ...others] = operations;
  const shared = new Set(first?.query.filter((name) => others.every(({ query }) => query.includes(name))));
  // Documents of the server itself have one form.
  const isResource = first?.action !== undefined;
  const query = [...shared, ...(isResource ? ["pretty" as const] : [])];
  return {
    common: byName([...inPath.map((name) => pathParameter(name, nameOf)), ...query.map(queryParameter)]),
    of: (operation) => byName(operation.query.filter((name) => !shared.has(name)).map(queryParameter)),
  };
}

function pathParameter(name: "name" | "namespace", nameOf: string): NamedParameter {
  const description = name === "name" ? `name of the ${nameOf}` : "object name and auth scope, such as for teams and projects";
  return { name, in: "path", type: "string", description };
}

function queryParameter(name: QueryParameter): NamedParameter {
  return { name, ...QUERY_PARAMETERS[name] };
}

function byName(parameters: readonly NamedParameter[]): readonly NamedParameter[] {
  return parameters.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
