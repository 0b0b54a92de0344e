/** A Status as the answer of an exchange that has not reached the API server. */
import type { StatusError } from "../api/machinery/status-error.ts";
import type { WholeAnswer } from "../apiserver/framework/exchange.ts";

export function statusAnswer(error: StatusError): WholeAnswer {
  const retryAfter = error.details?.retryAfterSeconds;
  return {
    code: error.code,
    headers: { "content-type": "application/json", ...(retryAfter === undefined ? {} : { "retry-after": String(retryAfter) }) },
    body: [new TextEncoder().encode(JSON.stringify(error.toStatus()))],
  };
}
