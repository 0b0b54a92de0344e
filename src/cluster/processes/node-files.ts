/**
 * Files of the kubelet of `k8ts up --processes`: its client certificate, its serving certificate, both signed by the cluster's CA and kept
 * with the cluster's other certificates, and its configuration. Simulated nodes only have a serving certificate. Certificates are renewed
 * before they expire, or when the CA, the name or the address changes.
 */
import { isIpv6 } from "../../api/pod-ranges.ts";
import { joinPath, readWhole } from "../../host/files/files.ts";
import { keyProblem } from "../../host/crypto/keys.ts";
import { writePrivateText } from "../../host/files/private-files.ts";
import type { HeldHome } from "../home/cluster-home.ts";
import { machineCgroup } from "../machine/container-paths.ts";
import { CLUSTER_DOMAIN } from "../machine/cluster-domain.ts";
import type { PreparedMachine } from "../machine/prepare-machine.ts";
import { firstCertificate, namesOf, type CertificateWithKey } from "../../pki/certificates.ts";
import { RENEW_BEFORE_MS } from "../../pki/complete-pki.ts";
import { machineMaker } from "../../pki/certificate-issuer.ts";
import type { Pki } from "../../pki/pki.ts";

export interface NodeFilesOptions {
  readonly home: HeldHome["home"];
  /** Directory of the cluster's certificates. */
  readonly certificateDirectory: string;
  readonly nodeName: string;
  readonly machine: PreparedMachine;
  readonly pki: Pki;
  /** URL of the API server, and its CA (PEM). */
  readonly server: string;
  readonly authority: string;
  /** Cluster IP of the Service kube-system/kube-dns. */
  readonly clusterDns?: string;
}

export interface NodeFiles {
  readonly kubeconfig: string;
  readonly configuration: string;
}

/** Writes files that are missing or outdated. */
export async function writeNodeFiles(options: NodeFilesOptions, nowMs: number): Promise<NodeFiles> {
  const { home, certificateDirectory, nodeName, machine, pki } = options;
  const directory = joinPath(certificateDirectory, "kubelet");
  const client = filesOf(joinPath(directory, "kubelet-client"));
  await keep(client, { pki, nowMs, names: [], make: () => pki.makeNodeCertificate(nodeName, nowMs) });
  const servingOptions = { path: joinPath(directory, "kubelet"), name: nodeName, addresses: [...machine.nodeIps, "127.0.0.1"], pki };
  const serving = await writeServingFiles(servingOptions, nowMs);
  const kubeconfig = joinPath(certificateDirectory, "kubeconfigs", "kubelet.conf");
  await writePrivateText(kubeconfig, kubeconfigText(options, client));
  const configuration = joinPath(home.runDirectory, "kubelet.json");
  await writePrivateText(configuration, configurationText(options, serving));
  return { kubeconfig, configuration };
}

export interface PairFiles {
  readonly certificate: string;
  readonly key: string;
}

export interface ServingFilesOptions {
  /** Path prefix of the files. */
  readonly path: string;
  /** Name of the node. */
  readonly name: string;
  readonly addresses: readonly string[];
  readonly pki: Pki;
}

/** Writes the serving certificate if it is missing or outdated. */
export async function writeServingFiles({ path, name, addresses, pki }: ServingFilesOptions, nowMs: number): Promise<PairFiles> {
  const files = filesOf(path);
  const make = () => pki.makeNodeServingCertificate(name, addresses, nowMs);
  await keep(files, { pki, nowMs, names: [name, ...addresses], make });
  return files;
}

function filesOf(path: string): PairFiles {
  return { certificate: `${path}.crt`, key: `${path}.key` };
}

interface Kept {
  readonly pki: Pki;
  readonly names: readonly string[];
  readonly nowMs: number;
  make(): CertificateWithKey;
}

async function keep(files: PairFiles, kept: Kept): Promise<void> {
  const pair = { certificate: await textOf(files.certificate), key: await textOf(files.key) };
  if (isGood(pair, kept)) return;
  const made = kept.make();
  // The key first: a certificate always has its key.
  await writePrivateText(files.key, made.key);
  await writePrivateText(files.certificate, made.certificate);
}

function isGood(pair: CertificateWithKey, { pki, names, nowMs }: Kept): boolean {
  const certificate = firstCertificate(pair.certificate);
  if (certificate === undefined || keyProblem(pair) !== undefined) return false;
  const has = namesOf(certificate);
  return (
    certificate.fromMs <= nowMs &&
    certificate.toMs - nowMs >= RENEW_BEFORE_MS &&
    names.every((name) => has.includes(name)) &&
    machineMaker.isSignedBy(pair.certificate, pki.authority)
  );
}

/** "": missing. */
async function textOf(path: string): Promise<string> {
  return readWhole(path).then(
    (bytes) => new TextDecoder().decode(bytes),
    () => "",
  );
}

/** Refers to the files instead of containing them: clients reload files, so that renewed certificates are used without a restart. */
function kubeconfigText({ server, authority, nodeName }: NodeFilesOptions, { certificate, key }: PairFiles): string {
  const user = `system:node:${nodeName}`;
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "k8ts", cluster: { server, "certificate-authority-data": Buffer.from(authority).toString("base64") } }],
    users: [{ name: user, user: { "client-certificate": certificate, "client-key": key } }],
    contexts: [{ name: "k8ts", context: { cluster: "k8ts", user } }],
    "current-context": "k8ts",
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}

function configurationText({ home, certificateDirectory, machine, clusterDns }: NodeFilesOptions, serving: PairFiles): string {
  const { endpoint, podCidrs, nodeIps } = machine;
  const configuration = {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    containerRuntimeEndpoint: endpoint,
    ...(podCidrs.length === 0 ? {} : { podCIDR: podCidrs.join(",") }),
    ...(nodeIps.some(isIpv6) ? { address: "::" } : {}),
    podLogsDir: joinPath(home.logDirectory, "pods"),
    cgroupRoot: machineCgroup(home),
    clusterDomain: CLUSTER_DOMAIN,
    ...(clusterDns === undefined ? {} : { clusterDNS: [clusterDns] }),
    authentication: { x509: { clientCAFile: joinPath(certificateDirectory, "ca.crt") } },
    tlsCertFile: serving.certificate,
    tlsPrivateKeyFile: serving.key,
    // Disabled: clusters run side by side, and the supervisor knows whether the process is alive.
    healthzPort: 0,
  };
  return `${JSON.stringify(configuration, undefined, 2)}\n`;
}
