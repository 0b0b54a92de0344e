/** Parses the query of a request into options. Numbers and booleans are parsed as upstream does; unknown parameters are ignored. */
import { durationToMs, parseDuration } from "../../api/machinery/duration.ts";
import { badRequest } from "../../api/machinery/status-error.ts";
import type { RequestOptions } from "../../api/machinery/transport.ts";

export interface ParsedQuery {
  readonly options: RequestOptions;
  readonly isWatch: boolean;
  /** `?timeout=`: the client's timeout. */
  readonly timeoutMs: number | undefined;
  /** For tables: the part of each object that its row includes. */
  readonly includeObject: string;
  readonly parameters: URLSearchParams;
}

const NO_PARAMETERS = new URLSearchParams();

const EMPTY: ParsedQuery = {
  options: {},
  isWatch: false,
  timeoutMs: undefined,
  includeObject: "Metadata",
  parameters: NO_PARAMETERS,
};

const TEXTS = [
  "labelSelector",
  "metricLabelSelector",
  "fieldSelector",
  "resourceVersion",
  "resourceVersionMatch",
  "continue",
  "fieldManager",
  "fieldValidation",
  "propagationPolicy",
] as const;
const NUMBERS = ["limit", "timeoutSeconds", "gracePeriodSeconds"] as const;
const BOOLEANS = [
  "allowWatchBookmarks",
  "sendInitialEvents",
  "force",
  "orphanDependents",
  "ignoreStoreReadErrorWithClusterBreakingPotential",
] as const;

export function parseQuery(query: string): ParsedQuery {
  if (query === "") return EMPTY;
  const parameters = new URLSearchParams(query);
  const options: Record<string, unknown> = {};
  for (const name of TEXTS) {
    const value = parameters.get(name);
    if (value !== null) options[name] = value;
  }
  for (const name of NUMBERS) {
    const value = parameters.get(name);
    if (value !== null && value !== "") options[name] = wholeNumber(value);
  }
  for (const name of BOOLEANS) {
    const value = parameters.get(name);
    if (value !== null) options[name] = isTrue(value);
  }
  const dryRun = parameters.getAll("dryRun");
  if (dryRun.length > 0) options["dryRun"] = dryRun;
  // Upstream ignores the timeout of long-running requests.
  const isWatch = isTrueParameter(parameters, "watch");
  return {
    options,
    isWatch,
    timeoutMs: isWatch ? undefined : timeoutOf(parameters.get("timeout")),
    includeObject: parameters.get("includeObject") ?? "Metadata",
    parameters,
  };
}

/** As upstream: only "0" and "false" mean false. */
function isTrue(value: string): boolean {
  return value !== "0" && value.toLowerCase() !== "false";
}

function isTrueParameter(parameters: URLSearchParams, name: string): boolean {
  const value = parameters.get(name);
  return value !== null && isTrue(value);
}

function wholeNumber(value: string): number {
  if (!/^[+-]?\d+$/.test(value) || !Number.isSafeInteger(Number(value))) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(value)}: invalid syntax`);
  }
  return Number(value);
}

/** For requests that are not long-running; throws a BadRequest if `?timeout=` is not a duration. */
export function checkTimeout(query: string): void {
  if (query.includes("timeout=")) timeoutOf(new URLSearchParams(query).get("timeout"));
}

function timeoutOf(value: string | null): number | undefined {
  if (value === null || value === "") return undefined;
  try {
    return durationToMs(parseDuration(value));
  } catch (error) {
    throw badRequest(`invalid timeout specified in the request URL - ${(error as Error).message}`, error);
  }
}
