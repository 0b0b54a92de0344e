/** Builders of requests with credentials, of certificates, and of the dependencies of authenticators. */
import { EvaluationTurns } from "../../../cel/program/evaluation-turns.ts";
import { encodeBase64 } from "../../../api/machinery/codec/base64.ts";
import { selfIssuer, writeCertificate } from "../../../api/machinery/x509/certificate-writer.ts";
import { PURPOSE } from "../../../api/machinery/x509/extensions.ts";
import { p256Key } from "../../../api/machinery/x509/p256-signer.ts";
import type { Clock } from "../../../base/clock.ts";
import { silentLogger } from "../../../base/logger.ts";
import { virtualClock } from "../../../testing/virtual-clock.ts";
import type { AuthenticationContext } from "../../framework/authentication.ts";
import type { ExchangeRequest, PeerCertificate } from "../../framework/exchange.ts";
import type { Identity } from "../../framework/identity.ts";
import type { Objects } from "../../framework/objects.ts";

const NOTHING_SET: Identity = { anonymous: true, bootstrapTokens: false, openIdIssuers: [] };

/** For authenticators that read no objects, or only these. */
export function contextOf(
  identity: Partial<Identity>,
  { clock = virtualClock(), objects = {} as Objects }: { readonly clock?: Clock; readonly objects?: Objects } = {},
): AuthenticationContext {
  const evaluations = new EvaluationTurns();
  return { identity: { ...NOTHING_SET, ...identity }, objects, evaluations, clock, log: silentLogger, label: () => Promise.resolve() };
}

export interface RequestCredentials {
  readonly method?: string;
  readonly path?: string;
  readonly query?: string;
  /** Keyed by lower-case name; a list is several headers of one name. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly certificate?: PeerCertificate;
}

export function requestShowing({
  method = "GET",
  path = "/api/v1/pods",
  query = "",
  headers = {},
  certificate,
}: RequestCredentials): ExchangeRequest {
  const valuesOf = (name: string) => (Object.hasOwn(headers, name) ? [headers[name] ?? []].flat() : []);
  return {
    method,
    path,
    query,
    header: (name) => (valuesOf(name).length === 0 ? undefined : valuesOf(name).join(", ")),
    headerValues: valuesOf,
    headerNames: () => Object.keys(headers),
    body: () => Promise.resolve(new Uint8Array()),
    signal: new AbortController().signal,
    cancel: () => {},
    peer: { address: "192.0.2.1", isLoopback: false, ...(certificate === undefined ? {} : { certificate }) },
  };
}

export interface CertificateOptions {
  readonly commonName?: string;
  readonly organizations?: readonly string[];
  readonly fromMs?: number;
  readonly toMs?: number;
  /** Default: clients. */
  readonly purposes?: readonly string[];
  /** The CA that signed it, as the HTTP layer determined. */
  readonly authorities?: readonly string[];
  /** Additional DER, besides the common fields. */
  readonly otherExtensions?: readonly Uint8Array[];
}

const { signer } = p256Key(7n);

/** Default: all of 2026. */
export function certificateOf(options: CertificateOptions): PeerCertificate {
  const {
    commonName = "",
    organizations = [],
    fromMs = Date.UTC(2026, 0),
    toMs = Date.UTC(2027, 0),
    purposes = [PURPOSE.client],
  } = options;
  const subject = { commonName, organizations };
  const der = writeCertificate(
    {
      subject,
      publicKey: signer.publicKey,
      validity: { fromMs, toMs },
      serialNumber: Uint8Array.of(1),
      keyUsages: ["digitalSignature"],
      extendedKeyUsages: purposes,
      otherExtensions: options.otherExtensions ?? [],
    },
    selfIssuer(subject, signer),
  );
  const pem = `-----BEGIN CERTIFICATE-----\n${encodeBase64(der)}\n-----END CERTIFICATE-----\n`;
  return { pem, authorities: options.authorities ?? [] };
}

/** The same bytes as received from HTTP: one character each. */
export function asHeader(text: string): string {
  return String.fromCharCode(...new TextEncoder().encode(text));
}
