/** Validates the documents of an edited text by the schemas of the server, which are read once per group and version. */
import { isObject } from "../../../api/machinery/object.ts";
import type { ClusterApi } from "../cluster-api.ts";
import { textAt } from "../fields.ts";
import { kindOfReference, type Kind } from "../kinds.ts";
import type { EditedDocument, EditedText, LineProblem } from "./documents.ts";
import { schemaOfKind, schemaProblems, type Schemas } from "./schema.ts";

interface OpenApi {
  readonly components?: { readonly schemas?: Schemas };
}

/** Schemas of the server by group and version, as many as the user's documents need. */
export class SchemaSource {
  readonly #api: ClusterApi;
  readonly #known = new Map<string, Promise<Schemas>>();

  constructor(api: ClusterApi) {
    this.#api = api;
  }

  /** Empty if the server publishes none, or cannot be reached. */
  async schemas(apiVersion: string): Promise<Schemas> {
    const known = this.#known.get(apiVersion);
    if (known !== undefined) return known;
    const path = `/openapi/v3/${apiVersion.includes("/") ? "apis" : "api"}/${apiVersion}`;
    const read = this.#api.get<OpenApi>(path).then(({ components }) => components?.schemas ?? {});
    this.#known.set(apiVersion, read);
    return read.catch(() => {
      this.#known.delete(apiVersion);
      return {};
    });
  }
}

/** Problems of the text itself come first: with one of them, the values are not known. */
export async function validateText(
  { documents, problems }: EditedText,
  kinds: readonly Kind[],
  source: SchemaSource,
): Promise<readonly LineProblem[]> {
  const found = await Promise.all(documents.map((document) => documentProblems(document, kinds, source)));
  return [...problems, ...found.flat()].sort((a, b) => a.line - b.line);
}

async function documentProblems(
  { value, lineOf }: EditedDocument,
  kinds: readonly Kind[],
  source: SchemaSource,
): Promise<readonly LineProblem[]> {
  const [apiVersion, kind] = [textAt(value, "apiVersion"), textAt(value, "kind")];
  if (apiVersion === "" || kind === "") return [{ line: lineOf([]), message: "A document needs an apiVersion and a kind" }];
  if (kindOfReference(kinds, apiVersion, kind) === undefined)
    return [{ line: lineOf(["kind"]), message: `The cluster serves no kind ${kind} of ${apiVersion}` }];
  const { metadata } = value;
  if (!isObject(metadata) || (textAt(metadata, "name") === "" && textAt(metadata, "generateName") === ""))
    return [{ line: lineOf(["metadata"]), message: "metadata needs a name" }];
  const schemas = await source.schemas(apiVersion);
  const [group, version] = apiVersion.includes("/") ? (apiVersion.split("/") as [string, string]) : ["", apiVersion];
  const schema = schemaOfKind(schemas, { group, version, kind });
  if (schema === undefined) return [];
  return schemaProblems(schemas, schema, value).map(({ path, message }) => ({
    line: lineOf(path),
    message: `${path.length === 0 ? "The document" : path.join(".")} ${message}`,
  }));
}
