/**
 * Configuration of authentication: keys, contents of files, trusted issuers. Built from flags and from the cluster's own certificates
 * (components); the core only knows these plain values.
 */
import type { JsonObject } from "../../api/machinery/object.ts";
import type { KeyReader, Signer, Verifier } from "../../base/crypto/signing.ts";
import type { User } from "./request.ts";

export interface Identity {
  /** Treats requests without credentials as `system:anonymous`; if false they are rejected with 401 (--anonymous-auth). */
  readonly anonymous: boolean;
  /** The only paths that allow anonymous requests (AuthenticationConfiguration's anonymous.conditions); absent: all. */
  readonly anonymousPaths?: readonly string[];
  /**
   * Name of the authority whose certificates authenticate users (`PeerCertificate.authorities`). Absent: client certificates are ignored.
   */
  readonly clientAuthority?: string;
  /** That authority as PEM, for extension API servers (ConfigMap kube-system/extension-apiserver-authentication). */
  readonly clientAuthorityCertificates?: string;
  /** The authority of this server's own certificate, PEM, for joining nodes (ConfigMap kube-public/cluster-info). */
  readonly serverAuthority?: string;
  readonly frontProxy?: FrontProxy;
  readonly serviceAccounts?: ServiceAccountTokens;
  /** Accepts Secrets of type bootstrap.kubernetes.io/token as tokens (--enable-bootstrap-token-auth). */
  readonly bootstrapTokens: boolean;
  /** Tokens of --token-auth-file, by token. */
  readonly staticTokens?: ReadonlyMap<string, User>;
  readonly openIdIssuers: readonly OpenIdIssuer[];
  /** For the issuers: fetching their documents over HTTPS, and their keys. */
  readonly openId?: { readonly fetch: DocumentFetcher; readonly readKey: KeyReader };
}

/** A proxy that has authenticated the user and passes the user in headers. It authenticates itself by a certificate. */
export interface FrontProxy {
  /** The authority of its certificate (`PeerCertificate.authorities`). If it also signs clients, `allowedNames` must distinguish them. */
  readonly authority: string;
  /** Accepted common names; empty: any that the authority has signed. */
  readonly allowedNames: readonly string[];
  /** Lower case, checked in order. */
  readonly usernameHeaders: readonly string[];
  readonly uidHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraHeaderPrefixes: readonly string[];
  /** PEM, for extension API servers (ConfigMap kube-system/extension-apiserver-authentication). */
  readonly authorityCertificates: string;
}

export interface ServiceAccountTokens {
  /** The first is set in issued tokens, all are accepted (--service-account-issuer). */
  readonly issuers: readonly string[];
  /** Audiences of tokens for this API (--api-audiences). */
  readonly audiences: readonly string[];
  readonly signer: Signer;
  readonly signerKeyId: string;
  /** Including that of the signer. */
  readonly verifiers: readonly Verifier[];
  /** Maximum lifetime of issued tokens (--service-account-max-token-expiration). */
  readonly maxExpirationSeconds?: number;
  /**
   * Extends tokens of Pods that request the usual hour to a year, for clients that do not reload them
   * (--service-account-extend-token-expiration).
   */
  readonly extendsExpiration: boolean;
  /** URI of the keys for external verifiers of tokens (--service-account-jwks-uri); absent: that of this server. */
  readonly jwksUri?: string;
}

/** A condition in the Common Expression Language. */
export interface TokenRule {
  readonly expression: string;
  /** Why a token is rejected that does not fulfil it. */
  readonly message: string;
}

/** Expressions on `claims` that return attributes of the user. */
export interface ClaimMappings {
  /** Replaces `usernameClaim`. Must return a string that is not empty. */
  readonly username?: string;
  /** Returns a string or a list of strings. */
  readonly groups?: string;
  /** Must return a string. */
  readonly uid?: string;
  /** Each returns a string or a list of strings; a key whose value is empty is absent. */
  readonly extra?: readonly { readonly key: string; readonly expression: string }[];
}

/** An OpenID Connect provider, from --oidc-* flags or an AuthenticationConfiguration. */
export interface OpenIdIssuer {
  readonly url: string;
  /** URL of its discovery document, if not below `url`. */
  readonly discoveryUrl?: string;
  readonly audiences: readonly string[];
  /** The authority of its certificate, PEM; absent: the machine's trusted roots. */
  readonly certificateAuthority?: string;
  /** "" if `mappings.username` is set. */
  readonly usernameClaim: string;
  readonly usernamePrefix: string;
  readonly groupsClaim?: string;
  readonly groupsPrefix: string;
  readonly uidClaim?: string;
  /** Attributes that are not claims themselves, but computed from them. */
  readonly mappings?: ClaimMappings;
  /** Claims that a token must have with exactly these values. */
  readonly requiredClaims: Readonly<Record<string, string>>;
  /** Conditions on `claims`, the token's. */
  readonly claimRules?: readonly TokenRule[];
  /** Conditions on `user`, whom the claims are mapped to. */
  readonly userRules?: readonly TokenRule[];
  readonly algorithms: readonly string[];
}

export type DocumentFetcher = (
  url: string,
  options: { readonly certificateAuthority?: string; readonly signal: AbortSignal },
) => Promise<JsonObject>;
