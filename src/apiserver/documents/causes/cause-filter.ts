/** Which records a request for causes selects, from its query. */
import { badRequest } from "../../../api/machinery/status-error.ts";
import type { CauseRecord } from "../../framework/recording/causes.ts";
import { resourceOf } from "../../shared/explain/cause-item.ts";

export interface CauseQuery {
  matches(record: CauseRecord): boolean;
  /** Only records with a greater id. */
  readonly afterId: number;
  /** 0: all. */
  readonly limit: number;
  readonly isWatch: boolean;
}

/** By parameter: the value of a record that must be equal. */
const FILTERS: Readonly<Record<string, (record: CauseRecord) => string | undefined>> = {
  resource: resourceOf,
  namespace: ({ namespace }) => namespace,
  name: ({ name }) => name,
  user: ({ user }) => user,
  verb: ({ verb }) => verb,
  controller: ({ cause }) => cause?.controller,
  requestID: ({ requestId }) => requestId,
  revision: ({ revision }) => String(revision),
  outcome: ({ refusal }) => (refusal === undefined ? "committed" : "refused"),
};

/** Throws BadRequest. */
export function causeQuery(query: string): CauseQuery {
  const parameters = new URLSearchParams(query);
  numberOf(parameters, "revision");
  mustBeOneOf(parameters, "outcome", ["committed", "refused"]);
  mustBeOneOf(parameters, "watch", ["true", "1", "false", "0"]);
  const filters = Object.entries(FILTERS).flatMap(([name, valueOf]) => {
    const wanted = parameters.get(name);
    return wanted === null ? [] : [(record: CauseRecord) => valueOf(record) === wanted];
  });
  return {
    matches: (record) => filters.every((filter) => filter(record)),
    afterId: Math.max(numberOf(parameters, "after"), numberOf(parameters, "continue")),
    limit: numberOf(parameters, "limit"),
    isWatch: parameters.get("watch") === "true" || parameters.get("watch") === "1",
  };
}

/** A value that selects nothing, or is ignored, would look like an answer. */
function mustBeOneOf(parameters: URLSearchParams, name: string, values: readonly string[]): void {
  const text = parameters.get(name);
  if (text !== null && !values.includes(text))
    throw badRequest(`The parameter "${name}" must be one of ${values.join(", ")}, is ${JSON.stringify(text)}`);
}

function numberOf(parameters: URLSearchParams, name: string): number {
  const text = parameters.get(name) ?? "";
  const value = text === "" ? 0 : Number(text);
  if (!Number.isSafeInteger(value) || value < 0)
    throw badRequest(`The parameter "${name}" must be a non-negative integer, is ${JSON.stringify(text)}`);
  return value;
}
