/**
 * An HTTPS server for the webhooks of an operator: admission and conversion, each a function at a path. Without a certificate of the
 * caller's it creates one, signed by a CA of its own, whose certificate goes into `caBundle` of the webhook's configuration.
 */
import { parsePemCertificates, type Certificate } from "../../api/machinery/x509/certificate.ts";
import { silentLogger, type Logger } from "../../base/logger.ts";
import type { HttpReply, HttpRequest } from "../../host/http/contract.ts";
import { startHttpsServer } from "../../host/http/server.ts";
import { realClock } from "../../host/real-clock.ts";
import { machineMaker } from "../../pki/certificate-issuer.ts";
import { makeAuthority, makeLeaf, type CertificateWithKey } from "../../pki/certificates.ts";
import { reviewAdmission, reviewConversion, type AdmissionHandler, type ConversionHandler } from "./webhook-reviews.ts";

/** An AdmissionReview has an object and its predecessor, of at most 1.5 MiB each in etcd; a ConversionReview has a page of a list. */
const BODY_BYTES_MAX = 64 * 1024 * 1024;

export interface WebhookServerOptions {
  /** By path, such as "/validate". */
  readonly admission?: Readonly<Record<string, AdmissionHandler>>;
  /** By path. */
  readonly conversion?: Readonly<Record<string, ConversionHandler>>;
  /** Address to listen on. Default: 127.0.0.1. */
  readonly host?: string;
  /** Default: a free one. */
  readonly port?: number;
  /** DNS names and addresses of the created certificate, such as "operator.default.svc". Default: the host, localhost, 127.0.0.1. */
  readonly names?: readonly string[];
  /** PEM. Default: created at every start. */
  readonly certificate?: CertificateWithKey & { readonly authority: string };
  /** Default: nothing is logged. */
  readonly log?: Logger;
}

export interface WebhookServer extends AsyncDisposable {
  /** Such as https://127.0.0.1:40123; for `clientConfig.url`, with a path. */
  readonly url: string;
  readonly port: number;
  /** For `clientConfig.caBundle`: base64 of PEM. */
  readonly caBundle: string;
}

/** Rejects with a ListenError if it cannot listen there. */
export async function startWebhookServer(options: WebhookServerOptions): Promise<WebhookServer> {
  const { host = "127.0.0.1", port = 0, log = silentLogger } = options;
  const { authority, certificate, key } = options.certificate ?? createCertificate(options.names ?? [host, "localhost", "127.0.0.1"]);
  const server = await startHttpsServer({
    ...{ host, port, log, tls: { certificate, key }, limits: { bodyBytesMax: BODY_BYTES_MAX } },
    bodyTooLarge: (bytesMax) => new Error(`The review is larger than ${bytesMax} bytes`),
    handler: (request, reply) => void answer(request, reply, options, log),
  });
  return {
    url: `https://${host.includes(":") ? `[${host}]` : host}:${server.port}`,
    port: server.port,
    caBundle: Buffer.from(authority).toString("base64"),
    [Symbol.asyncDispose]: () => server.close(),
  };
}

/** Valid from now on for a year, by the machine's time, which API servers check it by. */
function createCertificate(names: readonly string[]): CertificateWithKey & { readonly authority: string } {
  const nowMs = realClock.now();
  const key = machineMaker.newKey();
  const { certificate: authority } = makeAuthority("webhook-server-ca", key, machineMaker, nowMs);
  const [parsed] = parsePemCertificates(authority);
  const request = { subject: { commonName: names[0] ?? "", organizations: [] }, purpose: "server", names: [...new Set(names)] } as const;
  return { authority, ...makeLeaf(request, { certificate: parsed as Certificate, signer: key.signer }, machineMaker, nowMs) };
}

/** Never rejects. */
async function answer(request: HttpRequest, reply: HttpReply, options: WebhookServerOptions, log: Logger): Promise<void> {
  try {
    const review = reviewer(request.path, options);
    if (review === undefined) return send(reply, 404, { message: `No webhook is served at ${request.path}` });
    const body: unknown = JSON.parse(new TextDecoder().decode(await request.body()));
    send(reply, 200, await review(body));
  } catch (error) {
    log.warn("Answering a webhook call failed", { path: request.path, error });
    send(reply, 500, { message: (error as Error).message });
  }
}

function reviewer(
  path: string,
  { admission = {}, conversion = {} }: WebhookServerOptions,
): ((body: unknown) => Promise<object>) | undefined {
  const decide = Object.hasOwn(admission, path) ? admission[path] : undefined;
  if (decide !== undefined) return (body) => reviewAdmission(body, decide);
  const convert = Object.hasOwn(conversion, path) ? conversion[path] : undefined;
  return convert === undefined ? undefined : async (body) => reviewConversion(body, convert);
}

function send(reply: HttpReply, code: number, body: object): void {
  reply.send({ code, headers: { "content-type": "application/json" } }, [new TextEncoder().encode(JSON.stringify(body))]);
}
