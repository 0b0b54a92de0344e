/**
 * /.well-known/openid-configuration and /openid/v1/jwks: issuer and public keys of service account tokens, so that others can verify tokens
 * offline. Served only if the issuer is a URL where they could be looked up.
 */
import { JSON_TYPE, negotiate } from "../../../api/machinery/codec/media-type.ts";
import { StatusError } from "../../../api/machinery/status-error.ts";
import type { Verifier } from "../../../base/crypto/signing.ts";
import type { Document, DocumentDependencies } from "../../framework/document.ts";
import type { ServiceAccountTokens } from "../../framework/identity.ts";

const CONFIGURATION_PATH = "/.well-known/openid-configuration";
const KEYS_PATH = "/openid/v1/jwks";
const KEYS_TYPE = "application/jwk-set+json";

/** Upstream's: a key must be published for an hour before it signs tokens. */
const CACHE_CONTROL = "public, max-age=3600";

export function openIdDocument({ server }: Pick<DocumentDependencies, "server">): Document {
  const pages = pagesOf(server.identity.serviceAccounts);
  return {
    name: "openid",
    answers: (path) => pages.has(path),
    listedPaths: () => [...pages.keys()],
    answer(request, path) {
      const { type = "", body = new Uint8Array() } = pages.get(path) ?? {};
      if (negotiate(request.header("accept"), [type]) === undefined) throw notAcceptable(type);
      return { code: 200, headers: { "content-type": type, "cache-control": CACHE_CONTROL }, body: [body] };
    },
  };
}

interface Page {
  readonly type: string;
  readonly body: Uint8Array;
}

function pagesOf(settings: ServiceAccountTokens | undefined): ReadonlyMap<string, Page> {
  const issuer = settings?.issuers[0];
  if (settings === undefined || issuer === undefined || !isPlainHttps(issuer)) return new Map();
  const keysUri = settings.jwksUri ?? `${issuer.replace(/\/$/, "")}${KEYS_PATH}`;
  if (!isHttps(keysUri)) return new Map();
  return new Map([
    [CONFIGURATION_PATH, pageOf(JSON_TYPE, configurationOf(issuer, keysUri, settings.verifiers))],
    [KEYS_PATH, pageOf(KEYS_TYPE, { keys: settings.verifiers.map(keyOf) })],
  ]);
}

function pageOf(type: string, content: object): Page {
  return { type, body: new TextEncoder().encode(JSON.stringify(content)) };
}

/** Members are in upstream's order. */
function configurationOf(issuer: string, keysUri: string, verifiers: readonly Verifier[]): object {
  return {
    issuer,
    jwks_uri: keysUri,
    response_types_supported: ["id_token"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: [...new Set(verifiers.map(algorithmOf))].toSorted(),
  };
}

function keyOf(verifier: Verifier): object {
  const { kty, crv, ...numbers } = verifier.jwk;
  return {
    use: "sig",
    kty,
    kid: verifier.keyId,
    ...(crv === undefined ? {} : { crv }),
    alg: algorithmOf(verifier),
    ...numbers,
  };
}

/** The signing algorithm; the key may allow more. */
function algorithmOf({ algorithms }: Verifier): string {
  return algorithms[0] ?? "";
}

function isHttps(url: string): boolean {
  return URL.canParse(url) && new URL(url).protocol === "https:";
}

/** The form that OpenID Connect requires of an issuer. */
function isPlainHttps(url: string): boolean {
  return isHttps(url) && new URL(url).search === "" && new URL(url).hash === "";
}

/** Upstream's message differs from that of resources. */
function notAcceptable(type: string): StatusError {
  return new StatusError("NotAcceptable", `406: Not Acceptable\n\nAvailable representations: ${type}`, { details: {} });
}
