/**
 * What "who?" needs from outside: keys, files that were read, issuers that are trusted. Made at the door (main) from flags and from the
 * cluster's own certificates; the core only knows these plain values.
 */
import type { JsonObject } from "../../api/machinery/object.ts";
import type { KeyReader, Signer, Verifier } from "../../base/crypto/signing.ts";
import type { User } from "./request.ts";

export interface Identity {
  /** Whether who shows nothing is `system:anonymous` and goes on to be asked what it may; otherwise it gets 401 (--anonymous-auth). */
  readonly anonymous: boolean;
  /** The only paths where that is so (AuthenticationConfiguration's anonymous.conditions); absent: all. */
  readonly anonymousPaths?: readonly string[];
  /** Whether certificates that the authority of this name signed show a user (`PeerCertificate.authorities`). Absent: none do. */
  readonly clientAuthority?: string;
  /** That authority as PEM, for extension API servers (ConfigMap kube-system/extension-apiserver-authentication). */
  readonly clientAuthorityCertificates?: string;
  /** What signed this server's own certificate, PEM, for who joins the cluster (ConfigMap kube-public/cluster-info). */
  readonly serverAuthority?: string;
  readonly frontProxy?: FrontProxy;
  readonly serviceAccounts?: ServiceAccountTokens;
  /** Whether Secrets of type bootstrap.kubernetes.io/token are tokens (--enable-bootstrap-token-auth). */
  readonly bootstrapTokens: boolean;
  /** Tokens of --token-auth-file, by token. */
  readonly staticTokens?: ReadonlyMap<string, User>;
  readonly openIdIssuers: readonly OpenIdIssuer[];
  /** For the issuers: their documents over HTTPS, and their keys. */
  readonly openId?: { readonly fetch: DocumentFetcher; readonly readKey: KeyReader };
}

/** A proxy that has found out who the user is, and says so in headers. It shows who itself is by a certificate. */
export interface FrontProxy {
  /** Who signs its certificate (`PeerCertificate.authorities`). If the same also signs clients, `allowedNames` must tell them apart. */
  readonly authority: string;
  /** Common names; empty: any that the authority has signed. */
  readonly allowedNames: readonly string[];
  /** Lower case, asked in order. */
  readonly usernameHeaders: readonly string[];
  readonly uidHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraHeaderPrefixes: readonly string[];
  /** PEM, for extension API servers (ConfigMap kube-system/extension-apiserver-authentication). */
  readonly authorityCertificates: string;
}

export interface ServiceAccountTokens {
  /** The first is put into tokens, all are accepted (--service-account-issuer). */
  readonly issuers: readonly string[];
  /** For whom a token is meant that is for this API (--api-audiences). */
  readonly audiences: readonly string[];
  readonly signer: Signer;
  readonly signerKeyId: string;
  /** That of the signer among them. */
  readonly verifiers: readonly Verifier[];
  /** Whoever asks for longer gets this long (--service-account-max-token-expiration). */
  readonly maxExpirationSeconds?: number;
  /** Tokens for pods that ask for the usual hour live a year, for clients that do not read them again (--service-account-extend-token-expiration). */
  readonly extendsExpiration: boolean;
  /** Where the keys are, for whoever checks tokens elsewhere (--service-account-jwks-uri); absent: of this server. */
  readonly jwksUri?: string;
}

/** A provider of OpenID Connect, as --oidc-* flags or an AuthenticationConfiguration describe it. */
export interface OpenIdIssuer {
  readonly url: string;
  /** Where its documents are, if not below `url`. */
  readonly discoveryUrl?: string;
  readonly audiences: readonly string[];
  /** What signed its certificate, PEM; absent: what the machine trusts. */
  readonly certificateAuthority?: string;
  readonly usernameClaim: string;
  readonly usernamePrefix: string;
  readonly groupsClaim?: string;
  readonly groupsPrefix: string;
  readonly uidClaim?: string;
  /** Claims that a token must have with exactly this value. */
  readonly requiredClaims: Readonly<Record<string, string>>;
  readonly algorithms: readonly string[];
}

export type DocumentFetcher = (
  url: string,
  options: { readonly certificateAuthority?: string; readonly signal: AbortSignal },
) => Promise<JsonObject>;
