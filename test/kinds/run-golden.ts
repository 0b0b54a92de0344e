/**
 * Runs a golden file against a server: creates the object, writes its status, requests its table, sends the invalid one. The result has the
 * form of the file's members, so that both can be compared directly.
 */
import type { Json, JsonObject, KubeObject } from "../../src/api/machinery/object.ts";
import { collectionOf, kindOf, type GivenObject, type Golden } from "./golden.ts";

export interface Answer {
  readonly code: number;
  readonly text: string;
  readonly bytes: Uint8Array;
}

export type Call = (
  method: string,
  path: string,
  body?: JsonObject | Uint8Array,
  headers?: Readonly<Record<string, string>>,
) => Promise<Answer>;

export interface GoldenRun {
  readonly defaulted: JsonObject;
  readonly table?: Readonly<Record<string, Json>>;
  readonly wide?: Readonly<Record<string, Json>>;
  readonly causes: readonly string[];
  /** The object's resourceVersion before and after its protobuf form was sent back unchanged. */
  readonly versionsOfRoundTrip?: readonly [before: string, after: string];
}

const MERGE_PATCH = { "content-type": "application/merge-patch+json" };
const TABLE = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
const PROTOBUF = "application/vnd.kubernetes.protobuf";

export async function runGolden(golden: Golden, call: Call, namespace: string): Promise<GoldenRun> {
  const { given, before = [], status } = golden;
  const { resource } = kindOf(given);
  for (const object of before) await expectOk(call("POST", collectionOf(object, namespace), object));
  const collection = collectionOf(given, namespace);
  const canCreate = resource.verbs.includes("create");
  const first = canCreate ? call("POST", collection, given) : call("GET", `${collection}/${given.metadata.name ?? ""}`);
  const created = parsed(await expectOk(first));
  const causes = golden.bad === undefined ? [] : await causesOf(call, golden.bad, namespace);
  const defaulted = withoutWhatDiffers(created, resource.scope);
  if (!resource.verbs.includes("get")) return { defaulted, causes };
  const path = `${collection}/${nameOf(created)}`;
  if (status !== undefined) await expectOk(call("PATCH", `${path}/status`, { status }, MERGE_PATCH));
  const shown = await expectOk(call("GET", path, undefined, TABLE));
  const whole = { defaulted, causes, ...cellsOf(JSON.parse(withPlaceholders(shown.text, created)) as Table) };
  return resource.verbs.includes("update") ? { ...whole, versionsOfRoundTrip: await sendBack(call, path) } : whole;
}

async function causesOf(call: Call, bad: GivenObject, namespace: string): Promise<readonly string[]> {
  const answer = await call("POST", collectionOf(bad, namespace), bad);
  const { details, message } = parsed(answer) as {
    readonly message?: string;
    readonly details?: { readonly causes?: readonly { readonly field: string; readonly message: string }[] };
  };
  if (answer.code !== 422) return [`answered ${answer.code}: ${message ?? answer.text}`];
  return (details?.causes ?? []).map(({ field, message: text }) => `${field}: ${text}`);
}

async function sendBack(call: Call, path: string): Promise<readonly [string, string]> {
  const { bytes } = await expectOk(call("GET", path, undefined, { accept: PROTOBUF }));
  const before = versionOf(parsed(await expectOk(call("GET", path))));
  return [before, versionOf(parsed(await expectOk(call("PUT", path, bytes, { "content-type": PROTOBUF }))))];
}

interface Table {
  readonly columnDefinitions: readonly { readonly name: string; readonly priority: number }[];
  readonly rows: readonly { readonly cells: readonly Json[] }[];
}

function cellsOf({ columnDefinitions, rows }: Table): { readonly table: Record<string, Json>; readonly wide?: Record<string, Json> } {
  const cells = columnDefinitions.map(({ name, priority }, index) => ({ name, priority, cell: rows[0]?.cells[index] ?? null }));
  const ofPriority = (isWide: boolean): Record<string, Json> =>
    Object.fromEntries(cells.filter(({ priority }) => priority > 0 === isWide).map(({ name, cell }) => [name, cell]));
  const wide = ofPriority(true);
  return { table: ofPriority(false), ...(Object.keys(wide).length === 0 ? {} : { wide }) };
}

/** The object without its namespace and generated values, in the form of a golden file. */
export function withoutWhatDiffers(object: JsonObject, scope: "Namespaced" | "Cluster"): JsonObject {
  const { uid: _uid, creationTimestamp: _time, resourceVersion: _version, managedFields: _managed, ...metadata } = metadataOf(object);
  const { namespace: _namespace, ...rest } = metadata;
  return JSON.parse(
    withPlaceholders(JSON.stringify({ ...object, metadata: scope === "Namespaced" ? rest : metadata }), object),
    withoutCredential,
  ) as JsonObject;
}

/** Omits the certificate ID of the user; users without a certificate have none. */
function withoutCredential(key: string, value: unknown): unknown {
  const isOnlyThat = key === "extra" && Object.keys(Object(value)).join() === "authentication.kubernetes.io/credential-id";
  return isOnlyThat ? undefined : value;
}

/** Replaces an object's uid and creation time by `<uid>` and `<now>`. */
function withPlaceholders(text: string, object: JsonObject): string {
  const { uid = "", creationTimestamp = "" } = metadataOf(object);
  const withUid = uid === "" ? text : text.replaceAll(uid, "<uid>");
  return creationTimestamp === "" ? withUid : withUid.replaceAll(creationTimestamp, "<now>");
}

/** A response that is a Status has an empty one. */
function metadataOf(object: JsonObject): Partial<KubeObject["metadata"]> {
  return object["metadata"] as KubeObject["metadata"];
}

async function expectOk(asked: Promise<Answer>): Promise<Answer> {
  const answer = await asked;
  if (answer.code >= 300) throw new Error(`The server answered ${answer.code}: ${answer.text}`);
  return answer;
}

function parsed({ text }: Answer): JsonObject {
  return JSON.parse(text) as JsonObject;
}

function nameOf(object: JsonObject): string {
  return metadataOf(object).name ?? "";
}

function versionOf(object: JsonObject): string {
  return metadataOf(object).resourceVersion ?? "";
}
