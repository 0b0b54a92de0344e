/**
 * Keeps the certificates of a joined node current while it runs, without a restart. The client certificate is rotated by
 * CertificateSigningRequests; connections read the new one when they are opened. The kubelet's serving certificate is self-signed, which an
 * API server without --kubelet-certificate-authority accepts, or requested from the cluster; until that is approved, the self-signed one
 * is served.
 */
import { Disposables } from "../../base/disposables.ts";
import type { Random } from "../../base/random.ts";
import { keptKubeletCertificate } from "../../components/node/kubelet-certificate.ts";
import { keyProblem } from "../../host/crypto/keys.ts";
import type { Client } from "../../client/client.ts";
import { startCertificateRotation } from "../../kubelet/certificates/certificate-rotation.ts";
import { requestCertificate } from "../../kubelet/certificates/request-certificate.ts";
import { firstCertificate, namesOf, type CertificateWithKey } from "../../pki/certificates.ts";
import { startRenewal } from "../../pki/renewal.ts";
import { joinPaths, readPair, writePair, type StoredJoin } from "./join-files.ts";
import { clientRequest, servingRequest, type JoinContext } from "./node-credentials.ts";

/** As upstream's certificate manager: an administrator may have to approve. Then another request is made. */
const REQUEST_TIMEOUT_MS = 15 * 60_000;

export interface ServingIdentity {
  readonly nodeName: string;
  readonly nodeIps: readonly string[];
  /** True if the cluster issues it. */
  readonly isRequested: boolean;
}

/** The certificate to start with. */
export async function servingCertificate(identity: ServingIdentity, { home, clock }: JoinContext): Promise<CertificateWithKey> {
  return (identity.isRequested ? await issuedServing(identity, { home, clock }) : undefined) ?? selfSigned(identity, { home, clock });
}

function selfSigned(
  { nodeName, nodeIps }: ServingIdentity,
  { home, clock }: Pick<JoinContext, "home" | "clock">,
): Promise<CertificateWithKey> {
  return keptKubeletCertificate({ directory: home.pkiDirectory, names: [nodeName, ...nodeIps], nowMs: clock.now() });
}

/** That of an earlier run, if it is valid and for these addresses. */
async function issuedServing(
  { nodeIps }: ServingIdentity,
  { home, clock }: Pick<JoinContext, "home" | "clock">,
): Promise<CertificateWithKey | undefined> {
  const pair = await readPair(joinPaths(home).serving);
  const certificate = firstCertificate(pair?.certificate);
  if (pair === undefined || certificate === undefined || keyProblem(pair) !== undefined) return undefined;
  const names = namesOf(certificate);
  return certificate.toMs > clock.now() && nodeIps.every((address) => names.includes(address)) ? pair : undefined;
}

export interface UpkeepOptions extends ServingIdentity {
  readonly join: StoredJoin;
  /** Of the node. */
  readonly client: Client;
  readonly random: Random;
  useServing(pair: CertificateWithKey): void;
}

export async function startCertificateUpkeep(options: UpkeepOptions, context: JoinContext): Promise<AsyncDisposable> {
  const { nodeName, nodeIps, client, join, useServing, random } = options;
  const { home, clock, log } = context;
  await using starting = new Disposables();
  const common = { client, clock, timeoutMs: REQUEST_TIMEOUT_MS };
  starting.use(
    startCertificateRotation({
      purpose: "client",
      current: join.certificate,
      request: (signal) => requestCertificate({ ...clientRequest(nodeName), ...common, signal }),
      use: (pair) => clock.external(writePair(joinPaths(home).client, pair)),
      ...{ clock, log, random: random.derive("client certificate") },
    }),
  );
  if (!options.isRequested) {
    starting.defer(renewSelfSigned(options, context));
    return starting.move();
  }
  const current = await clock.external(issuedServing(options, context));
  starting.use(
    startCertificateRotation({
      purpose: "serving",
      ...(current === undefined ? {} : { current: current.certificate }),
      request: (signal) =>
        requestCertificate({
          ...servingRequest(nodeName, nodeIps),
          ...common,
          signal,
          onCreated: (name) =>
            log.info(`Requested a serving certificate; approve it with kubectl certificate approve ${name}`, {
              certificateSigningRequest: name,
            }),
        }),
      async use(pair) {
        await clock.external(writePair(joinPaths(home).serving, pair));
        useServing(pair);
      },
      ...{ clock, log, random: random.derive("serving certificate") },
    }),
  );
  return starting.move();
}

/** Resolves the function that stops it. */
function renewSelfSigned(options: UpkeepOptions, context: JoinContext): () => Promise<void> {
  const { clock, log } = context;
  let served = "";
  const renew = async (): Promise<boolean> => {
    const pair = await clock.external(selfSigned(options, context));
    const isNew = served !== "" && served !== pair.certificate;
    served = pair.certificate;
    if (isNew) options.useServing(pair);
    return isNew;
  };
  const renewal = startRenewal({ renew, isShared: false, onRenewed: () => undefined, clock, log });
  return () => renewal.stop();
}
