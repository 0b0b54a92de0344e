/**
 * Reads the file of a recording. Its author is unknown, so nothing of it is trusted: sizes and depth are limited, every member that
 * pages rely on is checked or dropped, and only what is known is kept. Pure. Texts stay texts: pages escape them like those of a server.
 */
import { isObject, type JsonObject, type KubeObject, type ObjectMeta } from "../../../api/machinery/object.ts";
import type { CauseItem } from "../../../explain/explain-api.ts";
import type { Column, Row } from "../live-table.ts";
import {
  RECORDING_BYTES_MAX,
  RECORDING_KIND,
  RECORDING_VERSION,
  type RecordedItem,
  type RecordedKind,
  type RecordedInstant,
  type RecordedVersion,
  type Recording,
} from "./recording.ts";

/** Deeper than any object that the API server accepts; recursive code of pages stays far below the limit of the stack. */
const DEPTH_MAX = 100;
const KINDS_MAX = 2_000;
const VERSIONS_MAX = 100_000;
const OBJECTS_MAX = 500_000;
const MESSAGES_MAX = 1_000;

/** Throws an Error with a sentence for the user. */
export function parseRecording(text: string): Recording {
  if (text.length > RECORDING_BYTES_MAX) throw new Error("Cannot open the recording: it is larger than 128 MB");
  const value = parsed(text);
  if (!isObject(value) || value["kind"] !== RECORDING_KIND || value["apiVersion"] !== RECORDING_VERSION)
    throw new Error(`Cannot open the file: it is not a recording (kind "${RECORDING_KIND}" of ${RECORDING_VERSION})`);
  checkDepth(value);
  const kinds = listAt(value, "kinds", KINDS_MAX).map(kindOf);
  if (kinds.reduce((count, { items }) => count + items.length, 0) > OBJECTS_MAX)
    throw new Error(`Cannot open the recording: it has more than ${OBJECTS_MAX} objects`);
  return {
    ...{ kind: RECORDING_KIND, apiVersion: RECORDING_VERSION },
    from: instantOf(value["from"], "from"),
    to: instantOf(value["to"], "to"),
    kinds,
    versions: listAt(value, "versions", VERSIONS_MAX).map(versionOf),
    causes: listAt(value, "causes", VERSIONS_MAX).map(causeOf),
    missing: listAt(value, "missing", MESSAGES_MAX).map((sentence) => (typeof sentence === "string" ? sentence : "")),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new Error(`Cannot open the file: it is not JSON: ${(error as Error).message}`, { cause: error });
  }
}

/** Without recursion: the depth is what is checked. A member "__proto__" would change what a copy inherits. */
function checkDepth(root: unknown): void {
  let level: readonly unknown[] = [root];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEPTH_MAX) throw new Error(`Cannot open the recording: an object is nested more than ${DEPTH_MAX} levels deep`);
    const next: unknown[] = [];
    for (const value of level) {
      if (typeof value !== "object" || value === null) continue;
      if (Object.hasOwn(value, "__proto__")) throw new Error('Cannot open the recording: it has a member "__proto__"');
      for (const member of Object.values(value) as unknown[]) if (typeof member === "object" && member !== null) next.push(member);
    }
    level = next;
  }
}

type Members = Readonly<Record<string, unknown>>;

function malformed(what: string): Error {
  return new Error(`Cannot open the recording: ${what} is malformed`);
}

function listAt(value: Members, name: string, max: number): readonly unknown[] {
  const list = value[name] ?? [];
  if (!Array.isArray(list)) throw malformed(name);
  if (list.length > max) throw new Error(`Cannot open the recording: it has more than ${max} ${name}`);
  return list;
}

function objectOf(value: unknown, what: string): Members {
  if (!isObject(value)) throw malformed(what);
  return value;
}

function instantOf(value: unknown, what: string): RecordedInstant {
  const { revision, time } = objectOf(value, what);
  if (typeof time !== "string" || Number.isNaN(Date.parse(time))) throw malformed(`${what}.time`);
  return { revision: revisionOf(revision, `${what}.revision`), time };
}

function revisionOf(value: unknown, what: string): string {
  if (typeof value !== "string" || !/^\d{1,15}$/.test(value)) throw malformed(what);
  return value;
}

/** Names are parts of paths. */
const NAME = /^[\w.:-]{0,253}$/;

function nameOf(value: unknown, what: string): string {
  if (typeof value !== "string" || !NAME.test(value)) throw malformed(what);
  return value;
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
}

function kindOf(value: unknown): RecordedKind {
  const kind = objectOf(value, "a kind");
  return {
    group: nameOf(kind["group"], "the group of a kind"),
    version: nameOf(kind["version"], "the version of a kind"),
    kind: nameOf(kind["kind"], "the name of a kind"),
    plural: nameOf(kind["plural"], "the plural name of a kind"),
    isNamespaced: kind["isNamespaced"] === true,
    // Whatever the file says: a recording can only be read.
    verbs: ["get", "list", "watch"],
    shortNames: textsOf(kind["shortNames"]),
    subresources: [],
    columns: listAt(kind, "columns", MESSAGES_MAX).map(columnOf),
    items: listAt(kind, "items", OBJECTS_MAX).map(itemOf),
  };
}

function columnOf(value: unknown): Column {
  const { name, priority } = objectOf(value, "a column");
  return { name: typeof name === "string" ? name : "", priority: typeof priority === "number" ? priority : 0 };
}

function itemOf(value: unknown): RecordedItem {
  const { object, cells } = objectOf(value, "an item");
  return { object: kubeObjectOf(object), cells: cellsOf(cells) };
}

function cellsOf(value: unknown): Row["cells"] {
  if (!Array.isArray(value)) return [];
  return value.map((cell: unknown) => (typeof cell === "string" || typeof cell === "number" || typeof cell === "boolean" ? cell : null));
}

function kubeObjectOf(value: unknown): KubeObject {
  const object = objectOf(value, "an object");
  const { apiVersion, kind, metadata } = object;
  return {
    ...object,
    apiVersion: typeof apiVersion === "string" ? apiVersion : "",
    kind: typeof kind === "string" ? kind : "",
    metadata: metadataOf(objectOf(metadata, "the metadata of an object")),
  };
}

const METADATA_TEXTS = ["uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "generateName"] as const;

/** Pages rely on its types. */
function metadataOf(metadata: Members): ObjectMeta {
  const texts = METADATA_TEXTS.flatMap((name) => (typeof metadata[name] === "string" ? [[name, metadata[name]] as const] : []));
  const namespace = metadata["namespace"];
  return {
    ...Object.fromEntries(texts),
    name: nameOf(metadata["name"], "the name of an object"),
    ...(namespace === undefined ? {} : { namespace: nameOf(namespace, "the namespace of an object") }),
    labels: textMap(metadata["labels"]),
    annotations: textMap(metadata["annotations"]),
    finalizers: textsOf(metadata["finalizers"]),
    ownerReferences: objectsOf(metadata["ownerReferences"]).map((owner) => ({
      ...{ apiVersion: textOf(owner["apiVersion"]), kind: textOf(owner["kind"]), name: textOf(owner["name"]), uid: textOf(owner["uid"]) },
      controller: owner["controller"] === true,
    })),
    managedFields: objectsOf(metadata["managedFields"]).map((entry) => ({
      ...{ manager: textOf(entry["manager"]), time: textOf(entry["time"]) },
      operation: entry["operation"] === "Apply" ? "Apply" : "Update",
      ...(isObject(entry["fieldsV1"]) && hasValidKeys(entry["fieldsV1"]) ? { fieldsV1: entry["fieldsV1"] as JsonObject } : {}),
    })),
  };
}

/** Keys of list items are JSON, and are parsed to find the writer of a field. */
function hasValidKeys(fields: Members): boolean {
  return Object.entries(fields).every(([name, value]) => isValidKey(name) && (!isObject(value) || hasValidKeys(value)));
}

function isValidKey(name: string): boolean {
  if (!name.startsWith("k:")) return true;
  try {
    return isObject(JSON.parse(name.slice(2)));
  } catch {
    return false;
  }
}

function objectsOf(value: unknown): readonly Members[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function textMap(value: unknown): Readonly<Record<string, string>> {
  if (!isObject(value)) return {};
  return Object.fromEntries(Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}

function versionOf(value: unknown): RecordedVersion {
  const version = objectOf(value, "a version");
  const { item } = version;
  return {
    resource: nameOf(version["resource"], "the resource of a version"),
    namespace: nameOf(version["namespace"], "the namespace of a version"),
    name: nameOf(version["name"], "the name of a version"),
    revision: revisionOf(version["revision"], "the revision of a version"),
    ...(item === undefined ? {} : { item: itemOf(item) }),
  };
}

const CAUSE_TEXTS = ["requestID", "subresource", "namespace", "name"] as const;

function causeOf(value: unknown): CauseItem {
  const item = objectOf(value, "a cause");
  const { id, time, resourceVersion, cause, admission, stages, refusal } = item;
  if (typeof id !== "number" || typeof time !== "string" || Number.isNaN(Date.parse(time))) throw malformed("a cause");
  const texts = CAUSE_TEXTS.flatMap((name) => (typeof item[name] === "string" ? [[name, item[name]] as const] : []));
  return {
    ...{ id, time, verb: textOf(item["verb"]), resource: textOf(item["resource"]), user: textOf(item["user"]) },
    userAgent: textOf(item["userAgent"]),
    ...Object.fromEntries(texts),
    ...(resourceVersion === undefined ? {} : { resourceVersion: revisionOf(resourceVersion, "the revision of a cause") }),
    ...(item["deleted"] === true ? { deleted: true as const } : {}),
    ...(isObject(cause) ? { cause: reasonOf(cause) } : {}),
    ...(Array.isArray(admission) ? { admission: objectsOf(admission).map(stepOf) } : {}),
    ...(isObject(stages) ? { stages: stagesOf(stages) } : {}),
    ...(isObject(refusal) ? { refusal: refusalOf(refusal) } : {}),
  };
}

function stagesOf(stages: Members): NonNullable<CauseItem["stages"]> {
  const found = (["authentication", "authorization", "admission", "store"] as const).flatMap((name) => {
    const stage = stages[name];
    if (!isObject(stage)) return [];
    const { microseconds, auditAnnotations } = stage;
    const texts = (["by", "reason", "impersonator"] as const).filter((text) => typeof stage[text] === "string");
    const known = Object.fromEntries(texts.map((text) => [text, stage[text]]));
    const annotated = isObject(auditAnnotations) ? { auditAnnotations: textMap(auditAnnotations) } : {};
    return [[name, { ...known, ...annotated, microseconds: typeof microseconds === "number" ? microseconds : 0 }] as const];
  });
  return Object.fromEntries(found);
}

function reasonOf(cause: Members): NonNullable<CauseItem["cause"]> {
  const texts = (["reason", "object", "revision"] as const).flatMap((name) =>
    typeof cause[name] === "string" ? [[name, cause[name]] as const] : [],
  );
  return { controller: textOf(cause["controller"]), key: textOf(cause["key"]), ...Object.fromEntries(texts) };
}

function stepOf(step: Members): { readonly plugin: string; readonly changed: readonly string[] } {
  return { plugin: textOf(step["plugin"]), changed: textsOf(step["changed"]) };
}

const STAGES = ["authorization", "admission", "write"] as const;

function refusalOf(refusal: Members): NonNullable<CauseItem["refusal"]> {
  const { code, plugin } = refusal;
  return {
    code: typeof code === "number" ? code : 0,
    ...{ reason: textOf(refusal["reason"]), message: textOf(refusal["message"]) },
    stage: STAGES.find((stage) => stage === refusal["stage"]) ?? "write",
    ...(typeof plugin === "string" ? { plugin } : {}),
  };
}
