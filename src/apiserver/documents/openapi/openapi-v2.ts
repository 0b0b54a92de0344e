/**
 * /openapi/v2: everything in one document, for clients without OpenAPI v3. JSON, or protobuf on request. Built on first request and cached
 * until the served resources change.
 */
import type { Clock } from "../../../base/clock.ts";
import { writeJson } from "../../../api/machinery/codec/json.ts";
import { JSON_TYPE, negotiate, notAcceptable } from "../../../api/machinery/codec/media-type.ts";
import type { JsonObject } from "../../../api/machinery/object.ts";
import type { Document, DocumentDependencies } from "../../framework/document.ts";
import { entityTag, hashOf, hasAlready } from "../../shared/entity-tag.ts";
import type { WholeAnswer, ExchangeRequest } from "../../framework/exchange.ts";
import { withRemoteParts } from "./remote-parts.ts";
import { sourcesOf } from "./sources.ts";
import { TypeSchemas } from "./type-schemas.ts";
import { v2Document } from "./v2-document.ts";
import { encodeV2Document } from "./v2-protobuf.ts";

const PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
/** "@" is invalid in a media type, so this name is accepted and the other one sent. */
const PROTOBUF_OLD = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";

type Dependencies = Pick<DocumentDependencies, "endpoints" | "server" | "loadDescriptions">;

interface BuiltDocument {
  readonly document: JsonObject;
  readonly json: readonly Uint8Array[];
  readonly hash: string;
  protobuf?: Promise<readonly Uint8Array[]>;
}

export function openApiV2Document(dependencies: Dependencies): Document {
  const { clock } = dependencies.server;
  let making: Promise<BuiltDocument> | undefined;
  const changed = (): void => void (making = undefined);
  dependencies.endpoints.onChange(changed);
  dependencies.server.aggregation.onChange(changed);
  return {
    name: "openapi/v2",
    answers: (path) => path === "/openapi/v2",
    listedPaths: () => ["/openapi/v2"],
    async answer(request) {
      const form = negotiate(request.header("accept"), [JSON_TYPE, PROTOBUF, PROTOBUF_OLD], () => true)?.mediaType;
      if (form === undefined) throw notAcceptable([JSON_TYPE, PROTOBUF]);
      const current = (making ??= make(dependencies));
      // The next request retries.
      current.catch(() => (making = making === current ? undefined : making));
      return answerWith(request, await current, form === JSON_TYPE, clock);
    },
  };
}

/** Each of the three parts takes tens of milliseconds, so the event loop gets a tick in between. */
async function make({ endpoints, server, loadDescriptions }: Dependencies): Promise<BuiltDocument> {
  const { schemas, clock, aggregation } = server;
  const types = new TypeSchemas({ dialect: "v2", schemas, descriptions: await loadDescriptions() });
  const local = [...endpoints.all()].filter(({ served }) => aggregation.remote(served.group, served.version) === undefined);
  const sources = Array.from(sourcesOf(local).values(), (source) => source.make());
  const parts = [...aggregation.all()].flatMap(({ openApiV2 }) => (openApiV2 === undefined ? [] : [openApiV2]));
  const own = v2Document(sources, types);
  const document = parts.length === 0 ? own : withRemoteParts(own, parts);
  await clock.sleep(0);
  const json = new TextEncoder().encode(writeJson(document));
  await clock.sleep(0);
  return { document, json: [json], hash: hashOf(json) };
}

async function encodeDocument({ document }: BuiltDocument, clock: Clock): Promise<readonly Uint8Array[]> {
  const pieces: Uint8Array[] = [];
  for (const piece of encodeV2Document(document)) {
    pieces.push(piece);
    await clock.sleep(0);
  }
  return pieces;
}

async function answerWith(request: ExchangeRequest, made: BuiltDocument, isJson: boolean, clock: Clock): Promise<WholeAnswer> {
  const headers = { etag: entityTag(made.hash), vary: "Accept", "cache-control": "no-cache, private" };
  if (hasAlready(request, made.hash)) return { code: 304, headers, body: [] };
  const body = isJson ? made.json : await (made.protobuf ??= encodeDocument(made, clock));
  return { code: 200, headers: { ...headers, "content-type": isJson ? JSON_TYPE : PROTOBUF }, body };
}
