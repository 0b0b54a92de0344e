/**
 * Parses YAML to JSON values as upstream's sigs.k8s.io/yaml does: the first document counts (or each, on request), merge keys are merged,
 * keys become text, and duplicate keys are reported with their line while the last one wins. A body that is JSON, which kubectl sends as
 * YAML, is parsed as JSON. Not here: the grammar (reader.ts), scalar types (scalar.ts), writing (write.ts).
 */
import { decodeText, isJsonSyntaxError, parseJson } from "../json.ts";
import { type ParsedYaml, YamlReader } from "./reader.ts";

export type { ParsedYaml } from "./reader.ts";

const OPEN_BRACE = 0x7b;
const NOTHING: ParsedYaml = { value: null, duplicates: [] };

/** Throws a YamlError. */
export function parseYaml(bytes: Uint8Array): ParsedYaml {
  const json = parseAsJson(bytes);
  if (json !== undefined) return json;
  const reader = new YamlReader(decodeText(bytes), { goLines: true });
  reader.advance(Infinity);
  return reader.take() ?? NOTHING;
}

/** Every document of a text, in order; the value of an empty one is null. Throws a YamlError at the first malformed one. */
export function* parseYamlDocuments(bytes: Uint8Array): Generator<ParsedYaml, void> {
  const json = parseAsJson(bytes);
  if (json !== undefined) return yield json;
  const reader = new YamlReader(decodeText(bytes), { goLines: false });
  for (;;) {
    reader.advance(Infinity);
    const document = reader.take();
    if (document === undefined) return;
    yield document;
  }
}

/** Undefined if it is not JSON, or if a key is duplicate: then its line must be reported. */
function parseAsJson(bytes: Uint8Array): ParsedYaml | undefined {
  if (bytes[0] !== OPEN_BRACE) return undefined;
  try {
    const { value, duplicates } = parseJson(bytes);
    return duplicates.length === 0 ? { value, duplicates } : undefined;
  } catch (error) {
    if (isJsonSyntaxError(error)) return undefined;
    throw error;
  }
}
