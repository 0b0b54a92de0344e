/**
 * Plays a golden file against a server: creates the object, writes its status, asks for its table, sends the bad one. What it returns
 * has the form of the file's members, so that both can be compared as they are.
 */
import type { Json, JsonObject, KubeObject } from "../../api/machinery/object.ts";
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

export interface Played {
  readonly defaulted: JsonObject;
  readonly table?: Readonly<Record<string, Json>>;
  readonly wide?: Readonly<Record<string, Json>>;
  readonly causes: readonly string[];
  /** The object's version before and after its protobuf form was sent back as it came. */
  readonly versionsOfRoundTrip?: readonly [before: string, after: string];
}

const MERGE_PATCH = { "content-type": "application/merge-patch+json" };
const TABLE = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
const PROTOBUF = "application/vnd.kubernetes.protobuf";

export async function play(golden: Golden, call: Call, namespace: string): Promise<Played> {
  const { given, before = [], status } = golden;
  const { resource } = kindOf(given);
  for (const object of before) await expectOk(call("POST", collectionOf(object, namespace), object));
  const collection = collectionOf(given, namespace);
  const created = parsed(await expectOk(call("POST", collection, given)));
  const causes = await causesOf(call, golden.bad, namespace);
  if (!resource.stored) return { defaulted: withoutWhatDiffers(created, resource.scope), causes };
  const path = `${collection}/${nameOf(created)}`;
  if (status !== undefined) await expectOk(call("PATCH", `${path}/status`, { status }, MERGE_PATCH));
  const shown = parsed(await expectOk(call("GET", path, undefined, TABLE))) as unknown as Table;
  return {
    defaulted: withoutWhatDiffers(created, resource.scope),
    causes,
    ...cellsOf(shown, uidOf(created)),
    versionsOfRoundTrip: await sendBack(call, path),
  };
}

async function causesOf(call: Call, bad: GivenObject, namespace: string): Promise<readonly string[]> {
  const answer = await call("POST", collectionOf(bad, namespace), bad);
  const { details, message } = parsed(answer) as unknown as {
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

/** With `<uid>` in the place of the object's, which a Job's selector shows. */
function cellsOf(
  { columnDefinitions, rows }: Table,
  uid: string,
): { readonly table: Record<string, Json>; readonly wide?: Record<string, Json> } {
  const cells = columnDefinitions.map(({ name, priority }, index) => ({
    name,
    priority,
    cell: withoutUid(rows[0]?.cells[index] ?? null, uid),
  }));
  const ofPriority = (isWide: boolean): Record<string, Json> =>
    Object.fromEntries(cells.filter(({ priority }) => priority > 0 === isWide).map(({ name, cell }) => [name, cell]));
  const wide = ofPriority(true);
  return { table: ofPriority(false), ...(Object.keys(wide).length === 0 ? {} : { wide }) };
}

function withoutUid(cell: Json, uid: string): Json {
  return typeof cell === "string" && uid !== "" ? cell.replaceAll(uid, "<uid>") : cell;
}

/** Without what differs from play to play, and with `<uid>` and `<now>` in the place of the uid and the time of birth. */
function withoutWhatDiffers(object: JsonObject, scope: "Namespaced" | "Cluster"): JsonObject {
  const { uid, creationTimestamp, resourceVersion: _version, managedFields: _managed, ...metadata } = object["metadata"] as JsonObject;
  const { namespace: _namespace, ...rest } = metadata;
  let text = JSON.stringify({ ...object, metadata: scope === "Namespaced" ? rest : metadata });
  if (typeof uid === "string" && uid !== "") text = text.replaceAll(uid, "<uid>");
  if (typeof creationTimestamp === "string") text = text.replaceAll(creationTimestamp, "<now>");
  return JSON.parse(text) as JsonObject;
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
  return (object as unknown as KubeObject).metadata.name;
}

function uidOf(object: JsonObject): string {
  return (object as unknown as KubeObject).metadata.uid ?? "";
}

function versionOf(object: JsonObject): string {
  return (object as unknown as KubeObject).metadata.resourceVersion ?? "";
}
