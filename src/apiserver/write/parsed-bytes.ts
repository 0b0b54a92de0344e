/** Parses the bytes of a body here, or returns what parse-large.ts has parsed in slices. */
import { parseJson, type ParsedJson } from "../../api/machinery/codec/json.ts";
import { parseYaml } from "../../api/machinery/codec/yaml/yaml.ts";
import type { ParsedYaml } from "../../api/machinery/codec/yaml/reader.ts";
import type { RequestBody } from "../framework/request.ts";

export type BytesBody = Extract<RequestBody, { readonly form: "bytes" }>;

/** Throws a JsonSyntaxError. Duplicate keys found by a schema-guided parse are among its mistakes. */
export function parsedJson({ bytes, parsed }: BytesBody, options?: { readonly duplicates?: boolean }): ParsedJson {
  if (parsed?.as === "error") throw parsed.error;
  if (parsed?.as !== "json") return parseJson(bytes, options);
  const { value, mistakes, literals } = parsed.json;
  const duplicates = parsed.isGuided ? [] : mistakes.map(({ path }) => path);
  return { value, duplicates, ...(literals === undefined ? {} : { literals }) };
}

/** Throws a YamlError. */
export function parsedYaml({ bytes, parsed }: BytesBody): ParsedYaml {
  if (parsed?.as === "error") throw parsed.error;
  return parsed?.as === "yaml" ? parsed.yaml : parseYaml(bytes);
}
