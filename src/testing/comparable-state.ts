/**
 * Everything in a cluster as texts that are equal if and only if two clusters are, apart from random and clock-dependent values: generated
 * names and addresses, uids, resource versions, timestamps, serial numbers of certificates, and the number of writes (generations), of
 * which only whether they were observed is compared.
 */
import { decodeBase64 } from "../api/machinery/codec/base64.ts";
import type { IPAddress } from "../api/generated/networking.k8s.io/v1.ts";
import type { KubeObject } from "../api/machinery/object.ts";
import { parsePemCertificates } from "../api/machinery/x509/certificate.ts";
import type { Client, ResourceKind } from "../client/client.ts";

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
/** Value in the annotation: the last change before the state was read. */
const TRIGGER_TIME = "endpoints.kubernetes.io/last-change-trigger-time";
const DROPPED: ReadonlySet<string> = new Set(["resourceVersion", "managedFields", "generation", "selfLink", TRIGGER_TIME]);

export async function comparableState(
  client: Client,
  kinds: readonly (ResourceKind & { readonly verbs?: readonly string[] })[],
): Promise<readonly string[]> {
  const listed = kinds.filter(({ verbs = ["list"] }) => verbs.includes("list"));
  const lists = await Promise.all(listed.map((kind) => client.list(kind)));
  const objects = lists.flatMap(({ items }) => items);
  const names = replacements(objects);
  return objects.map((object) => comparable(object, names)).toSorted();
}

/** True if the server generated the name. */
export function hasChosenName(object: KubeObject): boolean {
  return shownName(object) !== object.metadata.name;
}

/** A stable label for a generated name: "web-*". */
export function shownName(object: KubeObject): string {
  const { generateName, name } = object.metadata;
  if (generateName !== undefined && name.startsWith(generateName)) return `${generateName}*`;
  return object.kind === "IPAddress" ? addressOf(object as IPAddress) : name;
}

/** The IPAddress of a Service is named after the address. */
function addressOf({ metadata, spec }: IPAddress): string {
  const { resource, namespace = "", name } = spec?.parentRef ?? {};
  return name === undefined ? metadata.name : `address of ${resource} ${namespace}/${name}`;
}

/** Replacements of generated names and uids. */
function replacements(objects: readonly KubeObject[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const object of objects) {
    const { name, uid } = object.metadata;
    const shown = shownName(object);
    if (shown !== name) names.set(name, shown);
    if (uid !== undefined) names.set(uid, `uid of ${shown}`);
  }
  return names;
}

function comparable(object: KubeObject, names: ReadonlyMap<string, string>): string {
  const { generation } = object.metadata;
  const write = (key: string, value: unknown): unknown => {
    if (DROPPED.has(key)) return undefined;
    if (key === "observedGeneration") return value === generation ? "observed" : "not observed";
    if (typeof value !== "string") return sorted(value);
    if (key === "certificate" && value !== "") return comparableCertificate(value);
    return TIME.test(value) ? "a time" : (names.get(value) ?? value);
  };
  return JSON.stringify(object, write);
}

/** An issued certificate has a random serial number, timestamps and a signature over them. */
function comparableCertificate(base64: string): unknown {
  const [certificate] = parsePemCertificates(new TextDecoder().decode(decodeBase64(base64)));
  if (certificate === undefined) return base64;
  const { subject, issuer, keyUsages, extendedKeyUsages, dnsNames, fromMs, toMs } = certificate;
  return sorted({ of: subject.parts, by: issuer.commonName, keyUsages, extendedKeyUsages, dnsNames, durationMs: toMs - fromMs });
}

/** Members sorted by name; lists keep their order, which is visible to clients. */
function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Splits one of these texts into a line for each of its values: "Deployment default/web spec.replicas: 2". */
export function fieldsOf(state: string): readonly string[] {
  const object = JSON.parse(state) as KubeObject;
  const { namespace, name } = object.metadata;
  return leavesOf(object, `${object.kind} ${namespace === undefined ? "" : `${namespace}/`}${name} `);
}

function leavesOf(value: unknown, path: string): readonly string[] {
  if (typeof value !== "object" || value === null || Object.keys(value).length === 0) return [`${path}: ${JSON.stringify(value)}`];
  const separator = path.endsWith(" ") ? "" : ".";
  return Object.entries(value).flatMap(([key, member]) => leavesOf(member, `${path}${separator}${key}`));
}
