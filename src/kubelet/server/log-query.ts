/** Parses the query of a container log request as upstream's kubelet does. */
import type { PodLogOptions } from "../../api/generated/core/v1.ts";
import { canonicalTime } from "../../api/machinery/time.ts";
import { Refusal } from "./call.ts";

/** Upstream's messages are JSON here, and only here. */
const UNREADABLE = '{"message": "Unable to decode query."}';
const INVALID = '{"message": "Invalid request."}';

export type LogQuery = Omit<PodLogOptions, "apiVersion" | "kind">;

/** Throws a Refusal. */
export function logOptions(query: URLSearchParams): LogQuery {
  const options: LogQuery = {
    ...flag(query, "follow"),
    ...flag(query, "previous"),
    ...flag(query, "timestamps"),
    ...wholeNumber(query, "sinceSeconds", 1n),
    ...wholeNumber(query, "limitBytes", 1n),
    ...tailLines(query),
    ...sinceTime(query),
  };
  if (options.sinceSeconds !== undefined && options.sinceTime !== undefined) throw new Refusal(422, INVALID);
  mustBeWholeLog(query.get("stream"));
  return options;
}

/** A parameter without a value is true. */
function flag<Name extends string>(query: URLSearchParams, name: Name): { readonly [name in Name]?: boolean } {
  const value = query.get(name);
  return value === null ? {} : named(name, value !== "0" && value.toLowerCase() !== "false");
}

function named<Name extends string, T>(name: Name, value: T): { readonly [name in Name]?: T } {
  return { [name]: value } as { readonly [name in Name]?: T };
}

const INT64_MAX = 2n ** 63n - 1n;

function wholeNumber<Name extends string>(
  query: URLSearchParams,
  name: Name,
  least: bigint,
  value = query.get(name),
): { readonly [name in Name]?: number } {
  if (value === null) return {};
  if (!/^[+-]?\d+$/.test(value)) throw new Refusal(400, UNREADABLE);
  const number = BigInt(value.replace(/^\+/, ""));
  if (number > INT64_MAX || number < -INT64_MAX - 1n) throw new Refusal(400, UNREADABLE);
  if (number < least) throw new Refusal(422, INVALID);
  return named(name, Number(number));
}

/** `tail` is the older name, and "all" means unlimited. */
function tailLines(query: URLSearchParams): Pick<PodLogOptions, "tailLines"> {
  const older = query.get("tail");
  if (older === "all") return {};
  return wholeNumber(query, "tailLines", 0n, older === null || older === "" ? query.get("tailLines") : older);
}

function sinceTime(query: URLSearchParams): Pick<PodLogOptions, "sinceTime"> {
  const value = query.get("sinceTime");
  if (value === null || value === "") return {};
  const time = canonicalTime(value);
  if (time === undefined) throw new Refusal(400, UNREADABLE);
  return { sinceTime: time };
}

/** Selecting one stream requires a feature gate that is off by default. */
function mustBeWholeLog(stream: string | null): void {
  if (stream === null || stream === "" || stream === "All") return;
  const message = `unable to return the given log stream: ${JSON.stringify(stream)}. Please enable PodLogsQuerySplitStreams feature gate in kubelet`;
  throw new Refusal(400, message);
}
