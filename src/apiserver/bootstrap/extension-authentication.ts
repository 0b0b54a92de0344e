/**
 * The ConfigMap kube-system/extension-apiserver-authentication: the CAs that extension API servers trust, and the headers in which this
 * server passes the user. Entries of other servers are kept (they may trust more CAs during a rotation), ours are added; it is restored
 * after it is deleted or emptied.
 */
import type { ConfigMap } from "../../api/generated/core/v1.ts";
import { encodeBase64 } from "../../api/machinery/codec/base64.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import { pemBlocks } from "../../api/machinery/x509/pem.ts";
import { deepEqual } from "../../base/deep.ts";
import type { Identity } from "../framework/identity.ts";
import type { BootstrapContext, BootstrapStep } from "./bootstrap.ts";

const PLACE = { group: "", version: "v1", plural: "configmaps", namespace: "kube-system" };
const NAME = "extension-apiserver-authentication";

export const extensionAuthentication: BootstrapStep = {
  hook: "start-cluster-authentication-info-controller",
  make,
  keeps: [{ ...PLACE, name: NAME, always: true }],
};

async function make({ server: { identity }, requests }: BootstrapContext): Promise<void> {
  if (Object.keys(trustData(identity, {})).length === 0) return;
  const found = (await requests.get(PLACE, NAME))?.object as ConfigMap | undefined;
  const data = trustData(identity, found?.data ?? {});
  if (found === undefined) {
    await requests.makeMissing(PLACE, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: NAME }, data } as KubeObject);
  } else if (!deepEqual(found.data, data)) await requests.put(PLACE, { ...found, data } as KubeObject);
}

type Data = Readonly<Record<string, string>>;

/** Merges our trusted CAs with those in `found`. */
export function trustData({ clientAuthorityCertificates = "", frontProxy }: Identity, found: Data): Data {
  const clients = joinedCertificates(found["client-ca-file"], clientAuthorityCertificates);
  const proxies = joinedCertificates(found["requestheader-client-ca-file"], frontProxy?.authorityCertificates);
  const lists: Readonly<Record<string, readonly string[]>> = {
    "requestheader-username-headers": headers(frontProxy?.usernameHeaders),
    "requestheader-uid-headers": headers(frontProxy?.uidHeaders),
    "requestheader-group-headers": headers(frontProxy?.groupHeaders),
    "requestheader-extra-headers-prefix": headers(frontProxy?.extraHeaderPrefixes),
    "requestheader-allowed-names": frontProxy?.allowedNames ?? [],
  };
  const joined = Object.entries(lists).map(([key, list]) => [key, [...new Set([...readList(found[key]), ...list])]] as const);
  // Only the UID headers may be empty: they are newer than the others.
  const written = joined.filter(([key, list]) => key !== "requestheader-uid-headers" || list.length > 0);
  return {
    ...(clients === "" ? {} : { "client-ca-file": clients }),
    ...(proxies === ""
      ? {}
      : { "requestheader-client-ca-file": proxies, ...Object.fromEntries(written.map(([key, list]) => [key, JSON.stringify(list)])) }),
  };
}

/** In canonical HTTP form: X-Remote-User. */
function headers(names: readonly string[] = []): readonly string[] {
  return names.map((name) => name.replaceAll(/(?<=^|-)[a-z]/g, (letter) => letter.toUpperCase()));
}

/** Unparsable content counts as absent. */
function readList(text = "[]"): readonly string[] {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list.filter((item) => typeof item === "string") : [];
  } catch {
    return [];
  }
}

const LINE_LENGTH = 64;

/** Keeps the order, without duplicates. */
function joinedCertificates(...files: readonly (string | undefined)[]): string {
  const bodies = new Set<string>();
  for (const file of files) {
    for (const { type, bytes } of pemBlocks(new TextEncoder().encode(file))) if (type === "CERTIFICATE") bodies.add(encodeBase64(bytes));
  }
  return [...bodies].map(pemOf).join("");
}

function pemOf(body: string): string {
  const lines = Array.from({ length: Math.ceil(body.length / LINE_LENGTH) }, (_, line) =>
    body.slice(line * LINE_LENGTH, (line + 1) * LINE_LENGTH),
  );
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
}
