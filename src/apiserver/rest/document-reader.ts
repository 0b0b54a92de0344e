/**
 * Reads documents for components of this process: answered as over HTTP, with the same permissions, and parsed as JSON. Other paths are
 * rejected, as by the resource transport.
 */
import { JSON_TYPE } from "../../api/machinery/codec/media-type.ts";
import type { JsonObject } from "../../api/machinery/object.ts";
import { internalError, noSuchPath, StatusError } from "../../api/machinery/status-error.ts";
import type { ExchangeRequest } from "../framework/exchange.ts";
import type { DocumentReader } from "../pipeline/in-process.ts";
import { parsePath } from "../framework/access/request-path.ts";
import type { RestDependencies } from "./responses.ts";
import { answerDocument } from "./rest-exchange.ts";
import { documentRoute } from "./route.ts";

const OK = 200;

export function documentReader(dependencies: RestDependencies): DocumentReader {
  return async (user, target, signal) => {
    const [path = "", ...query] = target.split("?");
    const parsed = parsePath(path);
    if (parsed.is !== "document") throw internalError(new Error(`${path} is a resource, not a document; request it as a resource`));
    const route = documentRoute(dependencies.documents, parsed);
    const answer = await answerDocument(dependencies, requestOf(path, query.join("?"), signal), user, route);
    if (!("body" in answer)) throw internalError(new Error(`${path} is no document`));
    if (answer.code !== OK) throw refusal(path, answer.code, textOf(answer.body));
    return read(path, textOf(answer.body));
  };
}

function read(path: string, text: string): JsonObject {
  try {
    return JSON.parse(text) as JsonObject;
  } catch (cause) {
    throw internalError(new Error(`Cannot read the response of ${path}: it is not JSON`, { cause }));
  }
}

/** The error is not always JSON: upstream answers an unknown path in plain text. */
function refusal(path: string, code: number, text: string): StatusError {
  if (code === 404) return noSuchPath();
  return new StatusError(code === 403 ? "Forbidden" : "ServiceUnavailable", `${path} was answered with ${code}: ${text}`);
}

function requestOf(path: string, query: string, signal = new AbortController().signal): ExchangeRequest {
  return {
    method: "GET",
    path,
    query,
    header: (name) => (name === "accept" ? JSON_TYPE : undefined),
    headerValues: (name) => (name === "accept" ? [JSON_TYPE] : []),
    headerNames: () => ["accept"],
    body: () => Promise.resolve(new Uint8Array()),
    signal,
    cancel() {},
    peer: { address: "", isLoopback: true },
  };
}

function textOf(pieces: readonly Uint8Array[]): string {
  const decoder = new TextDecoder();
  return pieces.map((piece) => decoder.decode(piece, { stream: true })).join("") + decoder.decode();
}
