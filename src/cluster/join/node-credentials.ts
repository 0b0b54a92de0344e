/**
 * Credentials of a joined node: the client certificate of the last join, or a new one that is requested with a bootstrap token, after the
 * cluster has been found trustworthy (discovery.ts). Also their rotation, and the kubelet's serving certificate.
 */
import { CLUSTER_SIGNER } from "../../api/certificates.k8s.io/v1/cluster-signers.ts";
import { readyCondition } from "../../api/core/v1/node/health.ts";
import { nodeIdentity } from "../../api/identities.ts";
import type { Subject } from "../../api/machinery/x509/subject.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { Steps } from "../../cli/framework/progress.ts";
import type { Client } from "../../client/client.ts";
import { httpsTransport } from "../../client/https/https-transport.ts";
import { createClient } from "../../client/rest-client.ts";
import { makeKey } from "../../host/crypto/keys.ts";
import { requestCertificate, type CertificateRequestOptions } from "../../kubelet/certificates/request-certificate.ts";
import { firstCertificate, ipBytes } from "../../pki/certificates.ts";
import type { HeldHome } from "../home/cluster-home.ts";
import { publicKeyHashes } from "./cluster-info.ts";
import { checkAuthority, discoverCluster, JOIN_AGENT } from "./discovery.ts";
import { readJoin, writeAddress, writeJoin, type StoredJoin } from "./join-files.ts";
import type { JoinOptions } from "./join-options.ts";
import { hasToken, readToken } from "./join-token.ts";
import { getNode } from "./node-pod-cidr.ts";

export interface JoinContext {
  readonly home: HeldHome["home"];
  readonly steps: Steps;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Resolves when the home has a valid client certificate. Rejects with the remedy. */
export async function nodeCredentials(options: JoinOptions, context: JoinContext): Promise<StoredJoin> {
  const { home, clock } = context;
  const stored = await clock.external(readJoin(home));
  if (stored !== undefined) {
    if (options.isNamed && options.nodeName !== stored.nodeName)
      throw new Error(
        `Cannot join as ${options.nodeName}: this machine has already joined ${stored.server} as ${stored.nodeName}; leave --node-name out, ` +
          `or remove that node with "k8ts reset${home.commandArguments}" first`,
      );
    await checkSameCluster(stored, options, context);
    if (isValid(stored.certificate, clock.now())) return continued(stored, options, context);
    if (!hasToken(options))
      throw new Error(
        `Cannot use the client certificate of node ${stored.nodeName}: it has expired; create a token with "k8ts token create" on the ` +
          "cluster and run the join command that it prints",
      );
  }
  return bootstrapped({ ...options, ...(stored === undefined ? {} : { nodeName: stored.nodeName }) }, context, stored === undefined);
}

/** A certificate of another cluster is never used silently, and never replaced: its node still exists there. */
async function checkSameCluster(stored: StoredJoin, options: JoinOptions, { home, clock, log, signal }: JoinContext): Promise<void> {
  const { server = stored.server, pins } = options;
  const hashes = publicKeyHashes(stored.authority);
  const isPinned = pins.some((pin) => hashes.includes(pin.toLowerCase()));
  const isSame =
    pins.length > 0
      ? isPinned
      : (server === stored.server && !hasToken(options)) ||
        (await checkAuthority(server, { authority: stored.authority, clock, log, signal })) !== "another";
  if (isSame) return;
  throw new Error(
    `Cannot join the cluster at ${server}: this machine is node ${stored.nodeName} of another cluster, at ${stored.server} with the CA ` +
      `${hashes.join(", ")}; delete that Node there and its data here with "k8ts reset${home.commandArguments}" first, or join as a second ` +
      "node with another --name or --data-dir",
  );
}

function isValid(certificate: string, nowMs: number): boolean {
  const { fromMs = Infinity, toMs = -Infinity } = firstCertificate(certificate) ?? {};
  return fromMs <= nowMs && nowMs < toMs;
}

/** The certificate stays valid if the address of the server changes. */
async function continued(stored: StoredJoin, { server = stored.server }: JoinOptions, { home, clock }: JoinContext): Promise<StoredJoin> {
  if (server !== stored.server) await clock.external(writeAddress(home, { nodeName: stored.nodeName, server }));
  return { ...stored, server };
}

async function bootstrapped(options: JoinOptions, context: JoinContext, isFirst: boolean): Promise<StoredJoin> {
  const { server, pins, nodeName, timeoutMs } = options;
  const { home, steps, clock, log, signal } = context;
  const token = await clock.external(readToken(options));
  if (token === undefined || server === undefined)
    throw new Error(
      `Cannot join a cluster: this machine has not joined one yet (${home.directory}); run the command that "k8ts token create" prints on the cluster`,
    );
  const discovery = {
    server,
    token,
    pins,
    timeoutMs,
    clock,
    log,
    signal,
    onWaiting: (why: string) => steps.note(`  waiting for the cluster at ${server}: ${why}`),
  };
  const { authority } = await steps.step("verified cluster", () => discoverCluster(discovery));
  const credentials = { token: `${token.id}.${token.secret}` };
  await using transport = httpsTransport(
    { server, namespace: "default", authority: { text: authority }, credentials },
    { clock, log, userAgent: JOIN_AGENT },
  );
  const client = createClient(transport).with({ signal });
  if (isFirst) await checkNameFree(client, nodeName);
  const pair = await steps.step("received certificate", () =>
    requestCertificate({
      ...clientRequest(nodeName),
      ...{ client, timeoutMs, clock, signal },
      onCreated: (name) => log.info("Requested a client certificate", { certificateSigningRequest: name }),
    }),
  );
  await clock.external(writeJoin(home, { nodeName, server, authority }, pair));
  return { nodeName, server, authority, certificate: pair.certificate };
}

/** As kubeadm: two kubelets of one name would overwrite each other's Node. */
async function checkNameFree(client: Client, nodeName: string): Promise<void> {
  const node = await getNode(client, nodeName).catch((error: unknown) => {
    throw new Error(
      `Cannot join with this token: ${(error as Error).message}; create another one with "k8ts token create" on the cluster`,
      {
        cause: error,
      },
    );
  });
  if (node !== undefined && readyCondition(node)?.status === "True")
    throw new Error(
      `Cannot join as ${nodeName}: the cluster has a Ready node of this name; choose another one with --node-name, or, if that node has left, ` +
        `delete it with "kubectl delete node ${nodeName}"`,
    );
}

type RequestKind = Pick<CertificateRequestOptions, "signerName" | "purpose" | "content" | "newKey">;

export function clientRequest(nodeName: string): RequestKind {
  return { signerName: CLUSTER_SIGNER.kubeletClient, purpose: "client auth", content: { subject: subjectOf(nodeName) }, newKey: makeKey };
}

export function servingRequest(nodeName: string, nodeIps: readonly string[]): RequestKind {
  const alternativeNames = { dnsNames: [nodeName], ipAddresses: nodeIps.flatMap((address) => ipBytes(address) ?? []) };
  return {
    signerName: CLUSTER_SIGNER.kubeletServing,
    purpose: "server auth",
    content: { subject: subjectOf(nodeName), alternativeNames },
    newKey: makeKey,
  };
}

function subjectOf(nodeName: string): Subject {
  const { name: commonName, groups: organizations } = nodeIdentity(nodeName);
  return { commonName, organizations };
}
