/** A server with service account tokens whose key tests can sign with. Authorization allows everything. */
import type { JsonObject } from "../../../../api/machinery/object.ts";
import { p256Key, type P256Key } from "../../../../api/machinery/x509/p256-signer.ts";
import type { Identity, ServiceAccountTokens } from "../../../framework/identity.ts";
import { startServer, type CallAnswer, type StartedServer } from "../../../testing/server.ts";
import { writeToken } from "../../../../api/machinery/codec/json-web-token-writer.ts";
import { encodeBase64Url } from "../../../../api/machinery/codec/base64-url.ts";

export const ISSUER = "https://issuer.example";
export const AUDIENCE = "https://api.example";

export const KEY: P256Key = p256Key(0x5e55_0a5n);
export const OTHER_KEY: P256Key = p256Key(0x07_4e5n);

export const TOKENS: ServiceAccountTokens = {
  issuers: [ISSUER, "https://former.example"],
  audiences: [AUDIENCE],
  signer: KEY.signer,
  signerKeyId: KEY.verifier.keyId,
  verifiers: [KEY.verifier],
  extendsExpiration: true,
};

export interface TokenServer extends StartedServer {
  /** Creates an object below /api/v1 and returns it. */
  make(path: string, object: JsonObject): Promise<CallAnswer["body"]>;
  /** Returns the status of a TokenReview. */
  review(token: string, audiences?: readonly string[]): Promise<CallAnswer["body"]>;
  /** Requests a token of the account "a" in namespace "default" with this spec. */
  request(spec?: JsonObject): Promise<string>;
  /** Returns the response to a request with the token. */
  codeWith(token: string): Promise<number>;
}

export async function startTokenServer(settings: Partial<ServiceAccountTokens> = {}): Promise<TokenServer> {
  const identity: Identity = { anonymous: true, bootstrapTokens: false, openIdIssuers: [], serviceAccounts: { ...TOKENS, ...settings } };
  const server = await startServer({ identity, config: { authorizationModes: ["AlwaysAllow"] } });
  const created = async (path: string, body: JsonObject): Promise<CallAnswer["body"]> => {
    const answer = await server.call("POST", path, body);
    if (answer.code !== 201) throw new Error(`POST ${path}: ${answer.text}`);
    return answer.body;
  };
  return {
    ...server,
    make: (path, object) => created(`/api/v1/${path}`, object),
    async review(token, audiences = []) {
      return (await created("/apis/authentication.k8s.io/v1/tokenreviews", { spec: { token, audiences } })).status;
    },
    async request(spec = {}) {
      return (await created("/api/v1/namespaces/default/serviceaccounts/a/token", { spec })).status.token;
    },
    async codeWith(token) {
      return (await server.call("GET", "/api/v1/namespaces", undefined, { authorization: `Bearer ${token}` })).code;
    },
  };
}

/** Signs any claims with a valid key. */
export function signed(payload: JsonObject, key: P256Key = KEY): string {
  return writeToken(payload, { signer: key.signer, keyId: key.verifier.keyId });
}

/** Signs any header and payload text with the server's key. */
export function signedText(header: string, payload: string): string {
  const message = `${toBase64Url(header)}.${toBase64Url(payload)}`;
  return `${message}.${encodeBase64Url(KEY.signer.sign(new TextEncoder().encode(message)))}`;
}

export function toBase64Url(text: string): string {
  return encodeBase64Url(new TextEncoder().encode(text));
}

export function payloadOf(token: string): CallAnswer["body"] {
  return JSON.parse(textOf(token, 1));
}

export function headerOf(token: string): CallAnswer["body"] {
  return JSON.parse(textOf(token, 0));
}

/** Encodes one part of the token. */
export function textOf(token: string, part: 0 | 1): string {
  return atob((token.split(".")[part] ?? "").replaceAll("-", "+").replaceAll("_", "/"));
}
