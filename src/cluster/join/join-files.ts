/**
 * Files of a joined node in its home, readable only by their owner: the cluster's CA, the node's client certificate with its key in one file,
 * which a rotation replaces atomically, a kubeconfig that refers to both, and the record that completes them. It is written last: a join
 * that was interrupted starts over.
 */
import { joinPath, readWhole } from "../../host/files/files.ts";
import { writePrivateText } from "../../host/files/private-files.ts";
import type { ConnectionConfig } from "../../client/kubeconfig/connection-config.ts";
import { nodeIdentity } from "../../api/identities.ts";
import { firstCertificate, type CertificateWithKey } from "../../pki/certificates.ts";
import type { ClusterHome } from "../home/cluster-home.ts";

type Place = Pick<ClusterHome, "pkiDirectory" | "joinRecord">;

export interface StoredJoin {
  readonly nodeName: string;
  readonly server: string;
  /** CA of the cluster, PEM. */
  readonly authority: string;
  /** Client certificate, PEM. */
  readonly certificate: string;
}

export function joinPaths({ pkiDirectory }: Pick<ClusterHome, "pkiDirectory">) {
  return {
    authority: joinPath(pkiDirectory, "ca.crt"),
    /** Certificate and key, as upstream's kubelet stores them. */
    client: joinPath(pkiDirectory, "kubelet-client-current.pem"),
    serving: joinPath(pkiDirectory, "kubelet-server-current.pem"),
    kubeconfig: joinPath(pkiDirectory, "kubelet.conf"),
  };
}

/** Undefined: not joined, or not completely. */
export async function readJoin(home: Place): Promise<StoredJoin | undefined> {
  const paths = joinPaths(home);
  const record = parsed(await textOf(home.joinRecord));
  const [authority, pair] = [await textOf(paths.authority), await readPair(paths.client)];
  if (record === undefined || authority === undefined || pair === undefined) return undefined;
  return { ...record, authority, certificate: pair.certificate };
}

export async function writeJoin(home: Place, join: Omit<StoredJoin, "certificate">, pair: CertificateWithKey): Promise<void> {
  const paths = joinPaths(home);
  await writePrivateText(paths.authority, join.authority);
  await writePair(paths.client, pair);
  await writeAddress(home, join);
}

/** Also if only the server's address changed. */
export async function writeAddress(home: Place, { nodeName, server }: Pick<StoredJoin, "nodeName" | "server">): Promise<void> {
  await writePrivateText(joinPaths(home).kubeconfig, kubeconfigText(home, { nodeName, server }));
  await writePrivateText(home.joinRecord, `${JSON.stringify({ nodeName, server })}\n`);
}

/** One file, so that certificate and key always belong together. */
export async function writePair(path: string, { certificate, key }: CertificateWithKey): Promise<void> {
  await writePrivateText(path, `${certificate.trimEnd()}\n${key.trimEnd()}\n`);
}

/** Undefined: missing or damaged. */
export async function readPair(path: string): Promise<CertificateWithKey | undefined> {
  const text = await textOf(path);
  const certificates = text?.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  const [key] = text?.match(/-----BEGIN ([A-Z ]*)PRIVATE KEY-----[^-]*-----END \1PRIVATE KEY-----/) ?? [];
  const certificate = certificates.map((one) => `${one}\n`).join("");
  return key === undefined || firstCertificate(certificate) === undefined ? undefined : { certificate, key: `${key}\n` };
}

/** Refers to the files: clients read them again, so that a rotated certificate is used without a restart. */
export function connectionOf(home: Place, server: string): ConnectionConfig {
  const { authority, client } = joinPaths(home);
  const certificate = { certificate: { file: client }, key: { file: client } };
  return { server, namespace: "default", authority: { file: authority }, credentials: { certificate } };
}

function kubeconfigText(home: Place, { nodeName, server }: Pick<StoredJoin, "nodeName" | "server">): string {
  const { authority, client } = joinPaths(home);
  const { name: user } = nodeIdentity(nodeName);
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "k8ts", cluster: { server, "certificate-authority": authority } }],
    users: [{ name: user, user: { "client-certificate": client, "client-key": client } }],
    contexts: [{ name: "k8ts", context: { cluster: "k8ts", user } }],
    "current-context": "k8ts",
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}

function parsed(text: string | undefined): Pick<StoredJoin, "nodeName" | "server"> | undefined {
  try {
    const { nodeName, server } = JSON.parse(text ?? "null") as Readonly<Record<string, unknown>>;
    return typeof nodeName === "string" && typeof server === "string" ? { nodeName, server } : undefined;
  } catch {
    return undefined;
  }
}

async function textOf(path: string): Promise<string | undefined> {
  return readWhole(path).then(
    (bytes) => new TextDecoder().decode(bytes),
    () => undefined,
  );
}
