/** Responses of documents that are served as JSON only. */
import { JSON_TYPE, negotiate, notAcceptable } from "../../../api/machinery/codec/media-type.ts";
import type { ExchangeRequest, WholeAnswer } from "../../framework/exchange.ts";

export const JSON_HEADERS = { "content-type": JSON_TYPE, "cache-control": "no-cache, private" } as const;

/** Throws NotAcceptable. */
export function mustAcceptJson(request: ExchangeRequest): void {
  if (negotiate(request.header("accept"), [JSON_TYPE]) === undefined) throw notAcceptable([JSON_TYPE]);
}

export function jsonAnswer(value: object): WholeAnswer {
  return { code: 200, headers: JSON_HEADERS, body: [new TextEncoder().encode(JSON.stringify(value))] };
}
