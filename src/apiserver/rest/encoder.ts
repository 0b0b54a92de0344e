/**
 * Encodes outcomes in the negotiated media type. JSON of whole objects is the fast path, built from stored bytes (wire-bytes.ts);
 * everything else is encoded from values: tables, PartialObjectMetadata, YAML, protobuf.
 */
import { writeJson } from "../../api/machinery/codec/json.ts";
import { PROTOBUF_TYPE, YAML_TYPE } from "../../api/machinery/codec/media-type.ts";
import { encodeEnvelope, encodeProtobuf, encodeWatchFrame } from "../../api/machinery/codec/protobuf/protobuf.ts";
import { writeYaml } from "../../api/machinery/codec/yaml/write.ts";
import type { JsonObject, KubeObject } from "../../api/machinery/object.ts";
import type { Column } from "../../api/machinery/resource.ts";
import type { ObjectSchema, SchemaSet } from "../../api/machinery/schema.ts";
import { internalError, StatusError } from "../../api/machinery/status-error.ts";
import {
  bookmarkRow,
  partialObjectMetadata,
  tableHead,
  tableOf,
  tableRow,
  type IncludeObject,
  type TableOptions,
} from "../../api/machinery/table.ts";
import type { Endpoint } from "../framework/endpoints.ts";
import type { ObjectList } from "../framework/outcome.ts";
import { prettyJson } from "../shared/pretty-json.ts";
import type { WatchEvent } from "../framework/watch.ts";
import type { AnswerForm } from "./negotiation.ts";
import { eventBytes, listMetaOf, listPieces, objectListMeta, objectPieces } from "./wire-bytes.ts";
import { workingForm } from "../framework/storage/prepared-objects.ts";
import type { StoredObject } from "../framework/storage/storage.ts";

const encoder = new TextEncoder();
const META = "io.k8s.apimachinery.pkg.apis.meta.v1";

export interface EncoderOptions {
  readonly form: AnswerForm;
  readonly schemas: SchemaSet;
  readonly includeObject: IncludeObject;
  /** Rows of tables include their objects without managedFields. Default: false. */
  readonly omitsManagedFields?: boolean;
  readonly pretty: boolean;
  nowMs(): number;
}

/**
 * Longer lists are not indented, though the client requested it or is curl: their bytes exist already, and indenting 10,000 Pods would
 * block the event loop for most of a second.
 */
const INDENTED_ITEMS_MAX = 500;
/** Total size of the objects of a list: indenting 20 MB in 40 objects would block the event loop as long. */
const INDENTED_BYTES_MAX = 1024 * 1024;

export class Encoder {
  readonly #options: EncoderOptions;
  /** Streams with the same key share frames. Ages in tables depend on the time, so tables are not shared. */
  readonly #shareKey: string | undefined;
  /** Of the last event: nearly all events of a watch have the same key. */
  #lastEvent = { type: "", apiVersion: "", key: "" };
  #hasSentHeaders = false;

  constructor(options: EncoderOptions) {
    const { form } = options;
    this.#options = options;
    this.#shareKey = form.as === "Table" ? undefined : `${form.mediaType} ${form.as} ${form.metaVersion}`;
  }

  get contentType(): string {
    return this.#options.form.mediaType;
  }

  /** As upstream: only protobuf has a stream parameter in its content type. */
  get streamType(): string {
    const { mediaType } = this.#options.form;
    return mediaType === PROTOBUF_TYPE ? `${mediaType};stream=watch` : mediaType;
  }

  object(endpoint: Endpoint, object: StoredObject): readonly Uint8Array[] {
    if (this.#isPlainJson) return objectPieces(endpoint, object);
    return [this.#write(this.#valueOf(endpoint, object), this.#schemaOf(endpoint))];
  }

  list(endpoint: Endpoint, list: ObjectList): readonly Uint8Array[] {
    if (this.#isPlainJson || (this.#isIndentedJson && isLong(list))) return listPieces(endpoint, list);
    return [this.#write(this.#listValue(endpoint, list), this.#listSchemaOf(endpoint))];
  }

  /** A Status, a Scale, a review. */
  value(value: JsonObject, schema: string, columns: readonly Column[] = []): readonly Uint8Array[] {
    if (this.#options.form.as === "Table" && columns.length > 0) return [this.#valueTable(value, columns)];
    return [this.#write(value, this.#named(schema))];
  }

  /** One frame of a watch; encoded once for all watchers of one change with the same representation. */
  event(endpoint: Endpoint, event: WatchEvent): Uint8Array {
    const shared = event.type === "BOOKMARK" || event.type === "ERROR" ? undefined : event.shared;
    if (shared === undefined || this.#shareKey === undefined) return this.#frame(endpoint, event);
    const key = this.#eventKey(event.type, endpoint.apiVersion);
    const known = shared.get(key) as Uint8Array | undefined;
    if (known !== undefined) return known;
    const made = this.#frame(endpoint, event);
    shared.set(key, made);
    return made;
  }

  #eventKey(type: string, apiVersion: string): string {
    if (this.#lastEvent.type !== type || this.#lastEvent.apiVersion !== apiVersion)
      this.#lastEvent = { type, apiVersion, key: `${type} ${apiVersion} ${this.#shareKey}` };
    return this.#lastEvent.key;
  }

  #valueTable(value: JsonObject, columns: readonly Column[]): Uint8Array {
    const { nowMs, includeObject, form } = this.#options;
    const options = { resource: { columns }, nowMs: nowMs(), includeObject, metaVersion: form.metaVersion };
    const table = tableOf([value as KubeObject], options);
    return this.#write(table, this.#named(`${META}.Table`));
  }

  get #isPlainJson(): boolean {
    return this.#isJsonOfObjects && !this.#options.pretty;
  }

  get #isIndentedJson(): boolean {
    return this.#isJsonOfObjects && this.#options.pretty;
  }

  get #isJsonOfObjects(): boolean {
    const { form } = this.#options;
    return form.as === "object" && form.mediaType !== YAML_TYPE && form.mediaType !== PROTOBUF_TYPE;
  }

  #frame(endpoint: Endpoint, event: WatchEvent): Uint8Array {
    if (event.type === "ERROR") return this.#frameOf("ERROR", event.error.toStatus(), this.#named(`${META}.Status`));
    if (event.type === "BOOKMARK") {
      return this.#frameOf("BOOKMARK", this.#bookmark(endpoint, event), this.#schemaOf(endpoint));
    }
    if (this.#isPlainJson) return eventBytes(endpoint, event.type, event.object);
    return this.#frameOf(event.type, this.#valueOf(endpoint, event.object), this.#schemaOf(endpoint));
  }

  #frameOf(type: string, object: JsonObject, schema: ObjectSchema): Uint8Array {
    if (this.#options.form.mediaType === PROTOBUF_TYPE) return encodeWatchFrame(type, this.#protobuf(object, schema));
    return encoder.encode(`{"type":"${type}","object":${writeJson(object)}}\n`);
  }

  /** Bookmarks have only a resourceVersion, and the annotation that marks the end of the initial events. */
  #bookmark(endpoint: Endpoint, event: Extract<WatchEvent, { type: "BOOKMARK" }>): JsonObject {
    const mark = event.initialEventsEnd ? { annotations: { "k8s.io/initial-events-end": "true" } } : {};
    const metadata = { resourceVersion: String(event.revision), ...mark };
    const object = { kind: endpoint.resource.kind, apiVersion: endpoint.apiVersion, metadata: metadata as never };
    const { form, includeObject } = this.#options;
    if (form.as === "object") return object;
    if (form.as === "PartialObjectMetadata") return partialObjectMetadata(object, form.metaVersion);
    const options = this.#streamedTableOptions(endpoint);
    return { ...tableHead(object, options), rows: [bookmarkRow(object, { ...options, includeObject })] };
  }

  #valueOf(endpoint: Endpoint, object: StoredObject): JsonObject {
    const { form } = this.#options;
    if (form.as === "Table") return this.#tableOf(endpoint, object);
    const whole = withManagedFields(endpoint, object);
    return form.as === "object" ? whole : partialObjectMetadata(whole, form.metaVersion);
  }

  #tableOf(endpoint: Endpoint, object: StoredObject): JsonObject {
    const options = this.#streamedTableOptions(endpoint);
    const shown = workingForm(endpoint, object);
    return { ...tableHead(shown, options), rows: [{ ...tableRow(shown, options), ...this.#rowObject(endpoint, object) }] };
  }

  #listValue(endpoint: Endpoint, list: ObjectList): JsonObject {
    const { form } = this.#options;
    const metadata = listMetaOf(list);
    if (form.as === "Table") {
      const options = { ...this.#tableOptions(endpoint), list: metadata };
      const { tableOrder } = endpoint.resource;
      const objects = tableOrder === undefined ? list.objects : list.objects.toSorted((a, b) => tableOrder(a.object, b.object));
      const rows = objects.map((object) => ({ ...tableRow(workingForm(endpoint, object), options), ...this.#rowObject(endpoint, object) }));
      return { ...tableHead(undefined, options), rows };
    }
    const objects = list.objects.map((object) => withManagedFields(endpoint, object));
    if (form.as === "object") {
      const isTyped = endpoint.resource.isTyped !== false;
      const items = isTyped ? objects.map(({ kind: _kind, apiVersion: _apiVersion, ...item }) => item) : objects;
      return { kind: endpoint.listKind, apiVersion: endpoint.apiVersion, metadata: objectListMeta(endpoint, list), items };
    }
    const items = objects.map((object) => partialObjectMetadata(object, form.metaVersion));
    return { kind: "PartialObjectMetadataList", apiVersion: `meta.k8s.io/${form.metaVersion}`, metadata, items };
  }

  /** The part of the object that its row includes, with its managedFields unless the client omits them. */
  #rowObject(endpoint: Endpoint, object: StoredObject): { readonly object: KubeObject | null } {
    const { includeObject, form, omitsManagedFields = false } = this.#options;
    if (includeObject === "None") return { object: null };
    const whole = omitsManagedFields ? object.in(endpoint.served) : withManagedFields(endpoint, object);
    return { object: includeObject === "Object" ? whole : partialObjectMetadata(whole, form.metaVersion) };
  }

  /** Only the first table of a stream has column definitions. */
  #streamedTableOptions(endpoint: Endpoint): TableOptions<KubeObject> {
    const hasHeaders = !this.#hasSentHeaders;
    this.#hasSentHeaders = true;
    return { ...this.#tableOptions(endpoint), hasHeaders };
  }

  #tableOptions({ resource }: Endpoint): TableOptions<KubeObject> {
    return { resource, nowMs: this.#options.nowMs(), includeObject: "None", metaVersion: this.#options.form.metaVersion };
  }

  #write(value: JsonObject, schema: ObjectSchema): Uint8Array {
    const { form, pretty } = this.#options;
    if (form.mediaType === PROTOBUF_TYPE) return this.#protobuf(value, schema);
    if (form.mediaType === YAML_TYPE) return encoder.encode(writeYaml(value));
    return encoder.encode(pretty ? prettyJson(value) : `${writeJson(value)}\n`);
  }

  #protobuf(value: JsonObject, schema: ObjectSchema): Uint8Array {
    const raw = encodeProtobuf(value, schema);
    const { apiVersion = "", kind = "" } = value as { readonly apiVersion?: string; readonly kind?: string };
    return encodeEnvelope({ apiVersion, kind, raw });
  }

  #schemaOf(endpoint: Endpoint): ObjectSchema {
    const { as, mediaType } = this.#options.form;
    if (as !== "object") return this.#named(`${META}.${as}`);
    return mediaType === PROTOBUF_TYPE ? typedSchema(endpoint) : endpoint.schema;
  }

  #listSchemaOf(endpoint: Endpoint): ObjectSchema {
    const { as, mediaType } = this.#options.form;
    // Only protobuf needs the type.
    if (as === "object" && mediaType !== PROTOBUF_TYPE) return endpoint.schema;
    if (as === "object") return this.#named(`${typedSchema(endpoint).name}List`);
    return this.#named(as === "Table" ? `${META}.Table` : `${META}.PartialObjectMetadataList`);
  }

  #named(name: string): ObjectSchema {
    const schema = this.#options.schemas.get(name);
    if (schema?.type !== "object") throw internalError(new Error(`Schema ${name} does not exist`));
    return schema;
  }
}

/** Upstream's answer to a request for protobuf of a kind without it. */
function typedSchema({ resource, schema }: Endpoint): ObjectSchema {
  if (resource.isTyped !== false) return schema;
  throw new StatusError("NotAcceptable", NO_PROTOBUF);
}

const NO_PROTOBUF =
  "object *unstructured.Unstructured does not implement the protobuf marshalling interface and cannot be encoded to a protobuf message";

function isLong({ objects }: ObjectList): boolean {
  if (objects.length > INDENTED_ITEMS_MAX) return true;
  let sizeBytes = 0;
  for (const object of objects) sizeBytes += object.bytes().length;
  return sizeBytes > INDENTED_BYTES_MAX;
}

function withManagedFields({ served }: Endpoint, object: StoredObject): KubeObject {
  const shown = object.in(served);
  const managedFields = object.managed().entries();
  return managedFields.length === 0 ? shown : { ...shown, metadata: { ...shown.metadata, managedFields } };
}
