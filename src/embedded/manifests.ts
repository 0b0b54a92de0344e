/** Parses manifests: YAML or JSON text with any number of documents, one object, several, or a List. */
import { YamlError } from "../api/machinery/codec/yaml/scalar.ts";
import { parseYamlDocuments } from "../api/machinery/codec/yaml/yaml.ts";
import { isObject, type Json, type KubeObject } from "../api/machinery/object.ts";

export type Manifests = string | object | readonly object[];

/** In document order. Throws with the number of the invalid document. */
export function objectsOf(manifests: Manifests): readonly KubeObject[] {
  const documents = typeof manifests === "string" ? parseDocuments(manifests) : [manifests].flat();
  return documents.flatMap((document, index) => objectsOfDocument(document as Json, index + 1));
}

/** Empty documents are skipped. */
function parseDocuments(text: string): readonly Json[] {
  const values: Json[] = [];
  try {
    for (const { value } of parseYamlDocuments(new TextEncoder().encode(text))) if (value !== null) values.push(value);
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw new Error(`Cannot read document ${values.length + 1}: ${error.message}`, { cause: error });
  }
  return values;
}

function objectsOfDocument(document: Json, position: number): readonly KubeObject[] {
  if (!isObject(document)) throw new Error(`Cannot apply document ${position}: it must be an object`);
  const { apiVersion, kind, items, metadata } = document;
  if (typeof kind === "string" && kind.endsWith("List") && Array.isArray(items))
    return items.flatMap((item) => objectsOfDocument(item as Json, position));
  if (typeof apiVersion !== "string" || typeof kind !== "string" || !isObject(metadata ?? null))
    throw new Error(`Cannot apply document ${position}: it must have apiVersion, kind and metadata`);
  return [document as KubeObject];
}
