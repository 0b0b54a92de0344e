/**
 * Error responses as StatusErrors: a Status with all its details, or, where something else responded (a proxy, an error page), the reason
 * and message that upstream's clients derive from the code.
 */
import { decodeText, parseJson } from "../codec/json.ts";
import { quoteGo } from "../codec/go-text.ts";
import { isObject, groupResourceOf, type Json, type JsonObject } from "../object.ts";
import { reasonNamed, StatusError, type Reason } from "../status-error.ts";

/** The request, for the message. */
export interface Asked {
  readonly method: string;
  readonly group?: string;
  readonly plural?: string;
  readonly name?: string | undefined;
}

export interface Refusal {
  readonly code: number;
  readonly body: Uint8Array;
  /** Infinity if the server gave no delay. */
  readonly retryAfterSeconds: number;
  readonly asked: Asked;
}

export function errorOfAnswer(refusal: Refusal): StatusError {
  const value = parsedOrUndefined(refusal.body);
  return isStatus(value) ? errorOfStatus(value, refusal.code) : unexpected(refusal);
}

export function isStatus(value: Json | undefined): value is JsonObject {
  return isObject(value) && value["kind"] === "Status" && (value["apiVersion"] === "v1" || value["apiVersion"] === undefined);
}

/** `httpCode`: the response code, if the Status has none. */
export function errorOfStatus(status: JsonObject, httpCode = 500): StatusError {
  const code = typeof status["code"] === "number" && status["code"] > 0 ? status["code"] : httpCode;
  const { metadata, details } = status;
  const token = isObject(metadata) && typeof metadata["continue"] === "string" ? metadata["continue"] : "";
  const named = typeof status["reason"] === "string" ? reasonNamed(status["reason"]) : undefined;
  return new StatusError(named ?? genericOf(code, "").reason, textOf(status["message"]) || `the server answered with the code ${code}`, {
    code,
    ...(isObject(details) ? { details } : {}),
    ...(token === "" ? {} : { continue: token }),
  });
}

/** Only the beginning of a proxy's response is kept, enough to recognise it. */
const SHOWN_LENGTH_MAX = 2_048;

function unexpected({ code, body, retryAfterSeconds, asked }: Refusal): StatusError {
  const shown = decodeText(body.subarray(0, SHOWN_LENGTH_MAX)).trim();
  const { reason, message } = genericOf(code, shown || "unknown", asked.method);
  const { group = "", plural = "", name = "" } = asked;
  const what = plural === "" ? "" : ` (${asked.method.toLowerCase()} ${groupResourceOf(group, plural)}${name === "" ? "" : ` ${name}`})`;
  return new StatusError(reason, `${message}${what}`, {
    code,
    details: {
      ...(name === "" ? {} : { name }),
      ...(group === "" ? {} : { group }),
      ...(plural === "" ? {} : { kind: plural }),
      causes: [{ reason: "UnexpectedServerResponse", message: shown || "unknown" }],
      ...(retryAfterSeconds === Infinity ? {} : { retryAfterSeconds }),
    },
  });
}

interface Generic {
  readonly reason: Reason;
  readonly message: string;
}

function genericOf(code: number, said: string, method = ""): Generic {
  if (code === 409) return { reason: method === "POST" ? "AlreadyExists" : "Conflict", message: "the server reported a conflict" };
  if (code === 403) return { reason: "Forbidden", message: said };
  if (code === 415) return { reason: "UnsupportedMediaType", message: said };
  const known = GENERIC[code];
  if (known !== undefined) return known;
  if (code >= 500)
    return { reason: "InternalError", message: `an error on the server (${quoteGo(said)}) has prevented the request from succeeding` };
  return { reason: "Unknown", message: `the server responded with the status code ${code} but did not return more information` };
}

const GENERIC: Readonly<Record<number, Generic>> = {
  400: { reason: "BadRequest", message: "the server rejected our request for an unknown reason" },
  401: { reason: "Unauthorized", message: "the server has asked for the client to provide credentials" },
  404: { reason: "NotFound", message: "the server could not find the requested resource" },
  405: { reason: "MethodNotAllowed", message: "the server does not allow this method on the requested resource" },
  406: { reason: "NotAcceptable", message: "the server was unable to respond with a content type that the client supports" },
  422: { reason: "Invalid", message: "the server rejected our request due to an error in our request" },
  429: { reason: "TooManyRequests", message: "the server has received too many requests and has asked us to try again later" },
  503: { reason: "ServiceUnavailable", message: "the server is currently unable to handle the request" },
  504: {
    reason: "Timeout",
    message: "the server was unable to return a response in the time allotted, but may still be processing the request",
  },
};

function parsedOrUndefined(bytes: Uint8Array): Json | undefined {
  try {
    return parseJson(bytes, { duplicates: false }).value;
  } catch {
    return undefined;
  }
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}
