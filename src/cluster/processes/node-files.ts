/**
 * The files of the kubelet of `k8ts up --processes`: who it is to the API server, and with what it is called, both signed by the cluster's
 * authority and kept beside the cluster's other certificates; and its configuration. Of simulated nodes only that with which they are
 * called. Certificates are made anew when they are about to end, or when the authority, the name or the address is another.
 */
import { joinPath, readWhole } from "../../host/files/files.ts";
import { keyProblem } from "../../host/crypto/keys.ts";
import { writePrivateText } from "../../host/files/private-files.ts";
import type { HeldHome } from "../home/cluster-home.ts";
import { machineCgroup } from "../machine/container-paths.ts";
import { CLUSTER_DOMAIN } from "../machine/machine-node.ts";
import type { PreparedMachine } from "../machine/prepare-machine.ts";
import { firstCertificate, namesOf, type CertificateWithKey } from "../../pki/certificates.ts";
import { RENEW_BEFORE_MS } from "../../pki/complete.ts";
import { machineMaker } from "../../pki/machine-maker.ts";
import type { Pki } from "../../pki/pki.ts";

export interface NodeFilesOptions {
  readonly home: HeldHome["home"];
  /** Of the cluster's certificates. */
  readonly certificateDirectory: string;
  readonly nodeName: string;
  readonly machine: PreparedMachine;
  readonly pki: Pki;
  /** The API server's URL, and whom to trust for it, PEM. */
  readonly server: string;
  readonly authority: string;
}

export interface NodeFiles {
  readonly kubeconfig: string;
  readonly configuration: string;
}

/** Writes what is missing or out of date. */
export async function writeNodeFiles(options: NodeFilesOptions, nowMs: number): Promise<NodeFiles> {
  const { home, certificateDirectory, nodeName, machine, pki } = options;
  const directory = joinPath(certificateDirectory, "kubelet");
  const client = filesOf(joinPath(directory, "kubelet-client"));
  await keep(client, { pki, nowMs, names: [], make: () => pki.makeNodeCertificate(nodeName, nowMs) });
  const servingOptions = { path: joinPath(directory, "kubelet"), name: nodeName, addresses: [machine.nodeIp, "127.0.0.1"], pki };
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
  /** Of the files, but for what they end with. */
  readonly path: string;
  /** Of the node. */
  readonly name: string;
  readonly addresses: readonly string[];
  readonly pki: Pki;
}

/** With what it is called. Writes what is missing or out of date. */
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
  // The key first: a certificate that has appeared has its key beside it.
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

/** "": there is none. */
async function textOf(path: string): Promise<string> {
  return readWhole(path).then(
    (bytes) => new TextDecoder().decode(bytes),
    () => "",
  );
}

/** It names the files and does not hold what is in them: clients read files again, so that what was renewed is used without a restart. */
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

function configurationText({ home, certificateDirectory, machine }: NodeFilesOptions, serving: PairFiles): string {
  const { endpoint, podCidr } = machine;
  const configuration = {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    containerRuntimeEndpoint: endpoint,
    ...(podCidr === undefined ? {} : { podCIDR: podCidr }),
    podLogsDir: joinPath(home.logDirectory, "pods"),
    cgroupRoot: machineCgroup(home),
    clusterDomain: CLUSTER_DOMAIN,
    authentication: { x509: { clientCAFile: joinPath(certificateDirectory, "ca.crt") } },
    tlsCertFile: serving.certificate,
    tlsPrivateKeyFile: serving.key,
    // Clusters run side by side, and nobody asks: whether the process runs is known to who supervises it.
    healthzPort: 0,
  };
  return `${JSON.stringify(configuration, undefined, 2)}\n`;
}
