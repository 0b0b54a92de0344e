/** Moves parameters that all operations of a path share to the path. */
import { QUERY_PARAMETERS, type NamedParameter, type QueryParameter } from "./query-parameters.ts";
import type { TypeSchemas } from "./type-schemas.ts";
import type { ApiPath, Operation } from "./api-path.ts";

export interface PathParameters {
  readonly common: readonly NamedParameter[];
  of(operation: Operation): readonly NamedParameter[];
}

export function parametersOf({ inPath, nameOf, options, operations }: ApiPath, types: TypeSchemas): PathParameters {
  const [first, ...others] = operations;
  const shared = new Set(first?.query.filter((name) => others.every(({ query }) => query.includes(name))));
  // Documents of the server itself have one form, and connections their own.
  const hasForms = first?.action !== undefined && first.action !== "connect";
  const query = [...shared, ...(hasForms ? ["pretty" as const] : [])];
  const ofOptions = options === undefined ? [] : types.parametersOf(options);
  return {
    common: byName([...inPath.map((name) => pathParameter(name, nameOf)), ...query.map(queryParameter), ...ofOptions]),
    of: (operation) => byName(operation.query.filter((name) => !shared.has(name)).map(queryParameter)),
  };
}

function pathParameter(name: ApiPath["inPath"][number], nameOf: string): NamedParameter {
  const descriptions = {
    name: `name of the ${nameOf}`,
    namespace: "object name and auth scope, such as for teams and projects",
    path: "path to the resource",
  };
  return { name, in: "path", type: "string", description: descriptions[name] };
}

function queryParameter(name: QueryParameter): NamedParameter {
  return { name, ...QUERY_PARAMETERS[name] };
}

function byName(parameters: readonly NamedParameter[]): readonly NamedParameter[] {
  return parameters.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
