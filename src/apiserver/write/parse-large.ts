/**
 * Parses the body of a large request in slices, before its verb runs. The result, or the error, is kept with the body, and decode-body.ts
 * and patch.ts use it instead of parsing the bytes. Unknown fields are not kept in memory.
 */
import { decodeText, isJsonSyntaxError } from "../../api/machinery/codec/json.ts";
import { JsonReader } from "../../api/machinery/codec/json-parser.ts";
import { parseContentType, PROTOBUF_TYPE } from "../../api/machinery/codec/media-type.ts";
import type { Schema } from "../../api/machinery/schema.ts";
import { YamlReader, type ParsedYaml } from "../../api/machinery/codec/yaml/reader.ts";
import type { Endpoint } from "../framework/endpoints.ts";
import type { ApiRequest, ParsedBytes } from "../framework/request.ts";
import { yieldLoopOf, type YieldLoop } from "../limits/slices.ts";

/** A slice of this size takes a few milliseconds. */
const CHARACTERS_PER_SLICE = 64 * 1024;
const TOKENS_PER_SLICE = 1_000;
const OPEN_BRACE = 0x7b;

export async function parseLarge(endpoint: Endpoint, request: ApiRequest): Promise<ApiRequest> {
  const { body } = request;
  const yieldLoop = yieldLoopOf(request);
  if (body?.form !== "bytes" || yieldLoop === undefined) return request;
  const mediaType = parseContentType(body.contentType)?.mediaType ?? "";
  if (mediaType === PROTOBUF_TYPE) return request;
  const isYaml = mediaType.includes("yaml");
  const parsed = isYaml
    ? await parseYamlSlowly(body.bytes, yieldLoop)
    : await parseJsonSlowly(body.bytes, yieldLoop, guideOf(endpoint, request));
  return { ...request, body: { ...body, parsed } };
}

/** The type of the body, where it is that of the endpoint. */
function guideOf({ resource, served, schema }: Endpoint, { verb, subresource }: ApiRequest): Schema | undefined {
  if (served.decode !== undefined) return undefined;
  if (verb !== "create" && verb !== "update") return undefined;
  if (subresource === "") return schema;
  const written = Object.hasOwn(resource.subresources, subresource) ? resource.subresources[subresource] : undefined;
  return written?.of === "object" ? schema : undefined;
}

async function parseJsonSlowly(bytes: Uint8Array, yieldLoop: YieldLoop, guide: Schema | undefined): Promise<ParsedBytes> {
  try {
    const reader = new JsonReader(decodeText(bytes), guide);
    while (!reader.advance(CHARACTERS_PER_SLICE)) await yieldLoop();
    return { as: "json", json: reader.result(), isGuided: guide !== undefined };
  } catch (error) {
    if (!isJsonSyntaxError(error)) throw error;
    return { as: "error", error };
  } finally {
    await yieldLoop();
  }
}

async function parseYamlSlowly(bytes: Uint8Array, yieldLoop: YieldLoop): Promise<ParsedBytes> {
  const json = bytes[0] === OPEN_BRACE ? await parseJsonSlowly(bytes, yieldLoop, undefined) : undefined;
  // The line of a duplicate key must be reported, and for YAML that only looks like JSON the YAML parser has the right error.
  if (json?.as === "json" && json.json.mistakes.length === 0) return { as: "yaml", yaml: { value: json.json.value, duplicates: [] } };
  try {
    return { as: "yaml", yaml: await readYamlSlowly(bytes, yieldLoop) };
  } catch (error) {
    return { as: "error", error: error as Error };
  } finally {
    await yieldLoop();
  }
}

async function readYamlSlowly(bytes: Uint8Array, yieldLoop: YieldLoop): Promise<ParsedYaml> {
  const reader = new YamlReader(decodeText(bytes), { goLines: true });
  while (!reader.advance(TOKENS_PER_SLICE)) await yieldLoop();
  return reader.take() ?? { value: null, duplicates: [] };
}
