/** The error of a response with an error code: the Status in its body or, without one, upstream's generic message for the code. */
import { quoteGo } from "../../api/machinery/codec/go-text.ts";
import { parseJson } from "../../api/machinery/codec/json.ts";
import { isObject } from "../../api/machinery/object.ts";
import { reasonNamed, StatusError, type Reason } from "../../api/machinery/status-error.ts";
import type { WebhookReply } from "../framework/webhook-caller.ts";

/** Upstream's limit on the part of a text response that a message repeats. */
const TEXT_BYTES_MAX = 2_048;

const MESSAGES: Readonly<Record<number, readonly [reason: Reason, message: string | undefined]>> = {
  400: ["BadRequest", "the server rejected our request for an unknown reason"],
  401: ["Unauthorized", "the server has asked for the client to provide credentials"],
  403: ["Forbidden", undefined],
  404: ["NotFound", "the server could not find the requested resource"],
  405: ["MethodNotAllowed", "the server does not allow this method on the requested resource"],
  406: ["NotAcceptable", "the server was unable to respond with a content type that the client supports"],
  409: ["AlreadyExists", "the server reported a conflict"],
  415: ["UnsupportedMediaType", undefined],
  422: ["Invalid", "the server rejected our request due to an error in our request"],
  429: ["TooManyRequests", "the server has received too many requests and has asked us to try again later"],
  503: ["ServiceUnavailable", "the server is currently unable to handle the request"],
  504: ["Timeout", "the server was unable to return a response in the time allotted, but may still be processing the request"],
};

export function responseError(reply: WebhookReply): StatusError {
  return statusIn(reply) ?? genericError(reply);
}

function statusIn({ code, body }: WebhookReply): StatusError | undefined {
  let value: unknown;
  try {
    value = parseJson(body, { duplicates: false }).value;
  } catch {
    return undefined;
  }
  if (!isObject(value) || value["kind"] !== "Status" || value["apiVersion"] !== "v1" || value["status"] === "Success") return undefined;
  const { message, reason } = value;
  return new StatusError(reasonNamed(String(reason)) ?? "Unknown", typeof message === "string" ? message : "", { code });
}

function genericError({ code, contentType, body }: WebhookReply): StatusError {
  const isText = contentType === "" || contentType.trimStart().toLowerCase().startsWith("text/");
  const text = isText ? new TextDecoder().decode(body.subarray(0, TEXT_BYTES_MAX)).trim() : "unknown";
  const options = { code };
  const known = MESSAGES[code];
  if (known !== undefined) {
    const [reason, message = text] = known;
    return new StatusError(reason, code === 406 && text !== "" && text !== "unknown" ? text : message, options);
  }
  if (code >= 500) {
    return new StatusError("InternalError", `an error on the server (${quoteGo(text)}) has prevented the request from succeeding`, options);
  }
  return new StatusError("Unknown", `the server responded with the status code ${code} but did not return more information`, options);
}
