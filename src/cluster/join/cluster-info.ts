/**
 * Trust in a cluster that is not known yet, as kubeadm establishes it: the ConfigMap kube-public/cluster-info is signed with the secret half
 * of the bootstrap token, which only the cluster knows, and the CA in it must have a public key with a known hash. The signature alone
 * proves that the sender knows the token; the hash also protects from other holders of a token. Pure.
 */
import type { ConfigMap } from "../../api/generated/core/v1.ts";
import { CLUSTER_INFO_KUBECONFIG, CLUSTER_INFO_SIGNATURE_PREFIX } from "../../api/node-joining.ts";
import type { BootstrapTokenParts } from "../../api/core/v1/secret/bootstrap-token.ts";
import { detachedSignature } from "../../api/core/v1/secret/detached-signature.ts";
import { parseYaml } from "../../api/machinery/codec/yaml/yaml.ts";
import { decodeBase64 } from "../../api/machinery/codec/base64.ts";
import { parsePemCertificates, type Certificate } from "../../api/machinery/x509/certificate.ts";
import { sha256Hex } from "../../base/crypto/hash.ts";

export interface ClusterInfo {
  /** Such as https://192.0.2.1:6443. */
  readonly server: string;
  /** PEM. */
  readonly authority: string;
}

/** "missing": not signed with this token yet, or the token does not exist. "wrong": signed with another secret. */
export type SignatureCheck = "valid" | "missing" | "wrong";

export function checkSignature({ data = {} }: ConfigMap, { id, secret }: BootstrapTokenParts): SignatureCheck {
  const kubeconfig = data[CLUSTER_INFO_KUBECONFIG];
  const signature = data[`${CLUSTER_INFO_SIGNATURE_PREFIX}${id}`];
  if (kubeconfig === undefined || signature === undefined) return "missing";
  const expected = detachedSignature(kubeconfig, { id, key: new TextEncoder().encode(secret) });
  return signature === expected ? "valid" : "wrong";
}

/** Throws if it is not a kubeconfig with one cluster and its CA. */
export function readClusterInfo({ data = {} }: ConfigMap): ClusterInfo {
  const { value } = parseYaml(new TextEncoder().encode(data[CLUSTER_INFO_KUBECONFIG] ?? ""));
  const clusters = member(value, "clusters");
  const cluster = member(Array.isArray(clusters) ? clusters[0] : undefined, "cluster");
  const [server, authority] = [member(cluster, "server"), member(cluster, "certificate-authority-data")];
  if (typeof server !== "string" || typeof authority !== "string")
    throw new Error(
      "Cannot use the ConfigMap kube-public/cluster-info: its kubeconfig has no cluster with server and certificate-authority-data",
    );
  return { server, authority: new TextDecoder().decode(decodeBase64(authority)) };
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;
}

/** "sha256:<hex>" of a CA's public key (SubjectPublicKeyInfo), as kubeadm's --discovery-token-ca-cert-hash. */
export function publicKeyHash({ publicKeyInfo }: Pick<Certificate, "publicKeyInfo">): string {
  return `sha256:${sha256Hex(publicKeyInfo).toLowerCase()}`;
}

/** Of all certificates of a PEM text. Throws if one cannot be read. */
export function publicKeyHashes(authority: string): readonly string[] {
  return parsePemCertificates(authority).map(publicKeyHash);
}

/** The certificates of the bundle that are pinned. Only those are trusted. PEM. */
export function pinnedAuthorities(authority: string, pins: readonly string[]): string {
  const blocks = authority.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  const wanted = pins.map((pin) => pin.toLowerCase());
  return blocks
    .filter((block) => publicKeyHashes(block).some((hash) => wanted.includes(hash)))
    .map((block) => `${block}\n`)
    .join("");
}

const PIN = /^sha256:[0-9a-f]{64}$/i;

/** As `expects` of a flag. */
export function pinExpected(pin: string): string | undefined {
  return PIN.test(pin) ? undefined : "sha256: and 64 hexadecimal digits, as k8ts token create prints it";
}
