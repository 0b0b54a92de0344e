/**
 * What the real kubectl does with the object of a golden file, a function for each command, with its expected output. Not here: which of
 * them a kind supports, and in which order (kubectl.own.test.ts).
 */
import { deepEqual, equal, match } from "node:assert/strict";
import { parseYaml } from "../../src/api/machinery/codec/yaml/yaml.ts";
import type { Json, JsonObject, KubeObject } from "../../src/api/machinery/object.ts";
import type { TestApiServer } from "../../src/testing/servers/api-server.ts";
import type { ClientProgram } from "../../src/testing/clients/client-program.ts";
import { explainedFields, fieldsOf } from "./explained.ts";
import { collectionOf, kindOf, type GivenObject, type Golden, type ServedKind } from "./golden.ts";
import { withoutWhatDiffers } from "./run-golden.ts";
import { readPrintedRow } from "./printed-table.ts";

/** A golden file's object and a namespace for it. */
export interface Stage extends ServedKind {
  readonly golden: Golden;
  readonly namespace: string;
  /** kubectl in that namespace. */
  readonly kubectl: ClientProgram;
  /** `deployments.v1.apps golden`: with the version, so that kubectl does not choose another. */
  readonly target: string;
  /** `deployment.apps`, as kubectl prints it. */
  readonly type: string;
  readonly name: string;
  fetch(): Promise<{ readonly code: number; readonly body: string }>;
}

/** Creates the namespace and the objects that must exist first. */
export async function prepare(golden: Golden, server: TestApiServer): Promise<Stage> {
  const { resource, served } = kindOf(golden.given);
  const namespace = [resource.plural, served.version, ...served.group.split(".").slice(0, 1)].join("-").replace(/-$/, "");
  const { given, before = [] } = movedTo(namespace, golden);
  const kubectl = await server.inNamespace(namespace);
  for (const input of before) await kubectl("create -f -", { input });
  const name = given.metadata.name ?? "";
  return {
    ...{ golden: movedTo(namespace, golden), resource, served, namespace, kubectl, name },
    target: `${resource.plural}.${served.version}.${served.group} ${name}`,
    type: given.kind.toLowerCase() + (served.group === "" ? "" : `.${served.group}`),
    fetch: () => server.ask("GET", `${collectionOf(given, namespace)}/${name}`),
  };
}

/** The few objects that contain a namespace contain "golden". */
function movedTo(namespace: string, golden: Golden): Golden {
  return JSON.parse(JSON.stringify(golden).replaceAll('"namespace":"golden"', `"namespace":"${namespace}"`)) as Golden;
}

export async function create({ golden, kubectl, type, name }: Stage): Promise<void> {
  equal(await kubectl("create -f -", { input: golden.given }), `${type}/${name} created\n`);
}

/** For kinds that are answered and not stored. */
export async function createAndSeeAnswer(stage: Stage): Promise<void> {
  isDefaulted(stage, await stage.kubectl("create -f - -o yaml", { input: stage.golden.given }));
}

export async function getYaml(stage: Stage): Promise<void> {
  isDefaulted(stage, await stage.kubectl(`get ${stage.target} -o yaml`));
}

/** The API server itself writes the status of these soon after their creation, which golden.own.test.ts does not wait for. */
const HAVE_STATUS_OF_SERVER = ["CustomResourceDefinition", "APIService"];

function isDefaulted({ golden, resource }: Stage, yaml: string): void {
  const shown = parseYaml(new TextEncoder().encode(yaml)).value as JsonObject;
  const compared = ({ status, ...rest }: JsonObject): JsonObject =>
    status === undefined || HAVE_STATUS_OF_SERVER.includes(resource.kind) ? rest : { ...rest, status };
  deepEqual(compared(withoutWhatDiffers(shown, resource.scope)), compared(golden.defaulted));
}

/** The status may exist already: a Namespace is created as Active. */
export async function patchStatus(stage: Stage, status: JsonObject): Promise<void> {
  match(await patchWith(stage, "--subresource=status", { status }), / patched( \(no change\))?\n$/);
}

export async function change(stage: Stage, patch: JsonObject): Promise<void> {
  equal(await patchWith(stage, "", patch), `${stage.type}/${stage.name} patched\n`);
}

function patchWith({ kubectl, target }: Stage, flags: string, patch: JsonObject): Promise<string> {
  return kubectl(`patch ${target} --type=merge ${flags} -p '${JSON.stringify(patch).replaceAll("'", "\\u0027")}'`);
}

export async function showTable(stage: Stage): Promise<void> {
  const { golden, resource, kubectl, target } = stage;
  const { metadata } = JSON.parse((await stage.fetch()).body) as KubeObject;
  const columns = resource.columns.filter(({ priority }) => priority === 0);
  const printed = readPrintedRow(await kubectl(`get ${target}`));
  const printedWide = readPrintedRow(await kubectl(`get ${target} -o wide`));

  for (const [row, shown, cells] of [
    [printed, columns, { ...golden.table }],
    [printedWide, resource.columns, { ...golden.table, ...golden.wide }],
  ] as const) {
    const expected = shown.map(({ name }) => [name.toUpperCase(), printedCell(cells[name] ?? null, metadata)] as const);
    deepEqual(withoutTimePassed(row, new Map(expected)), expected);
  }
}

/** A cell as kubectl prints it; `<uid>` and `<now>` stand for the object's uid and creation time. */
function printedCell(cell: Json, { uid = "", creationTimestamp = "" }: KubeObject["metadata"]): string {
  const text = typeof cell === "string" ? cell : cell === null ? "" : JSON.stringify(cell);
  return text.replaceAll("<uid>", uid).replaceAll("<now>", creationTimestamp);
}

/** Ages are normalized to those of a new object, whatever a busy machine has taken since. */
function withoutTimePassed(
  row: ReadonlyMap<string, string>,
  expected: ReadonlyMap<string, string>,
): readonly (readonly [string, string])[] {
  return [...row].map(([header, cell]) => [header, expected.get(header) === "0s" && /^[\dms]+$/.test(cell) ? "0s" : cell]);
}

export async function explain({ golden, resource, served, kubectl }: Stage): Promise<void> {
  const line = `explain ${resource.plural} --api-version=${golden.given.apiVersion}`;
  const printed = await kubectl(line);
  const printedWithAll = await kubectl(`${line} --recursive`);

  const group = served.group === "" ? "" : `GROUP:      ${served.group}\n`;
  const title = `${group}KIND:       ${resource.kind}\nVERSION:    ${served.version}\n\nDESCRIPTION:\n    `;
  deepEqual([printed.slice(0, title.length), printedWithAll.slice(0, title.length)], [title, title]);
  const fields = fieldsOf(served.schema);
  deepEqual(explainedFields(printedWithAll), fields);
  deepEqual(
    explainedFields(printed),
    fields.filter((field) => /^ {2}\S/.test(field)),
  );
}

export async function describe({ kubectl, target, name }: Stage): Promise<void> {
  match(await kubectl(`describe ${target}`), new RegExp(`^Name: +${name}\n`));
}

/** Client-side and server-side apply; both twice, and the second time nothing is written. */
export async function applyTwice({ golden, kubectl, type, name, fetch }: Stage): Promise<void> {
  const apply = async (flags: string): Promise<{ readonly printed: string; readonly version: string | undefined }> => {
    const printed = await kubectl(`apply -f - ${flags}`, { input: golden.given });
    return { printed, version: (JSON.parse((await fetch()).body) as KubeObject).metadata.resourceVersion };
  };
  const first = await apply("");
  const second = await apply("");
  // Forced, because the server detects a conflict wherever it stored a value in another form than it was sent.
  const onServer = await apply("--server-side --force-conflicts");
  const onServerAgain = await apply("--server-side --force-conflicts");

  equal(first.printed, `${type}/${name} configured\n`);
  // kubectl sends a list again if the server has set defaults inside of it, and prints "configured".
  match(second.printed, new RegExp(`^${type}/${name} (unchanged|configured)\n$`));
  deepEqual([onServer.printed, onServerAgain.printed], Array(2).fill(`${type}/${name} serverside-applied\n`));
  if (notesTimeOfWrites(golden)) return;
  equal(second.version, first.version, "the resourceVersion after the second apply");
  equal(onServerAgain.version, onServer.version, "the resourceVersion after the second apply --server-side");
}

/** Where an omitted timestamp defaults to the time of the write (the taints of a ResourceSlice), the object changes after a second. */
function notesTimeOfWrites({ defaulted }: Golden): boolean {
  return JSON.stringify(defaulted["spec"] ?? null).includes("<now>");
}

export async function scale({ kubectl, target, type, name }: Stage): Promise<void> {
  equal(await kubectl(`scale ${target} --replicas=7`), `${type}/${name} scaled\n`);
  equal(await kubectl(`get ${target} --subresource=scale -o jsonpath={.kind}/{.spec.replicas}`), "Scale/7");
}

export async function remove({ resource, kubectl, target, type, name, namespace, fetch }: Stage): Promise<void> {
  // No namespace controller runs, so a deleted Namespace stays Terminating.
  const stays = resource.deletion !== undefined;
  const from = resource.scope === "Namespaced" ? ` from ${namespace} namespace` : "";
  equal(await kubectl(`delete ${target} --wait=${String(!stays)}`), `${type} "${name}" deleted${from}\n`);
  const { code, body } = await fetch();
  equal(stays ? /"deletionTimestamp":/.test(body) : code === 404, true, body);
}

/** kubectl prints the causes of a rejection in separate lines, and other errors as they are. */
export async function createBad({ kubectl }: Stage, bad: GivenObject, causes: readonly string[]): Promise<void> {
  const printed = await kubectl.fails("create -f - --validate=false", { input: bad });
  // kubectl omits repeated causes.
  const [only = "", ...more] = new Set(causes);
  const error = printed.replaceAll(/^Warning: .*\n/gm, "");
  if (only.startsWith("answered ")) {
    const message = only.slice(only.indexOf(": ") + 2);
    match(error, /^Error from server/);
    equal(error.endsWith(`${message}\n`), true, `Expected "${message}", kubectl printed: ${error}`);
    return;
  }
  const listed = more.length === 0 ? `${only}\n` : `\n${[only, ...more].map((cause) => `* ${cause}\n`).join("")}`;
  // Of kinds that are never stored, upstream returns no kind.
  const what = kindOf(bad).resource.stored ? `${bad.kind} "${bad.metadata.name ?? ""}"` : "request";
  equal(error, `The ${what} is invalid: ${listed}`);
}
