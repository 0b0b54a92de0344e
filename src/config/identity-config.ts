/**
 * Authentication and authorization flags, with upstream's names, and the configuration they produce. Contains only paths of files;
 * identity.ts reads them at start.
 */
import { durationToMs, parseDuration } from "../api/machinery/duration.ts";
import { authorizationModules } from "../apiserver/authorization/all.ts";
import type { FlagSet, FlagValues } from "../cli/framework/flags.ts";
import { redactPassword } from "../cli/framework/redact-password.ts";

export interface IdentityConfig {
  readonly anonymousAuth: boolean;
  /** CAs of client certificates. Absent: only the cluster's own CA. */
  readonly clientCaFile?: string;
  readonly requestHeader: RequestHeaderConfig;
  readonly tokenAuthFile?: string;
  readonly bootstrapTokenAuth: boolean;
  readonly serviceAccount: ServiceAccountConfig;
  /** Absent: the issuers of service account tokens. */
  readonly apiAudiences: readonly string[];
  readonly oidc?: OidcConfig;
  readonly authenticationConfigFile?: string;
}

export interface RequestHeaderConfig {
  /** Absent: a generated CA. */
  readonly clientCaFile?: string;
  readonly allowedNames: readonly string[];
  readonly usernameHeaders: readonly string[];
  readonly uidHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraHeadersPrefix: readonly string[];
}

export interface ServiceAccountConfig {
  readonly issuers: readonly string[];
  /** Public or private keys (PEM) that tokens are verified with. Absent: that of the signing key. */
  readonly keyFiles: readonly string[];
  /** Absent: a generated key. */
  readonly signingKeyFile?: string;
  readonly maxTokenExpirationSeconds?: number;
  readonly extendTokenExpiration: boolean;
  readonly jwksUri?: string;
}

export interface OidcConfig {
  readonly issuerUrl: string;
  readonly clientId: string;
  readonly usernameClaim: string;
  /** Absent: upstream's default, the issuer and "#" before every name that is not an e-mail address. */
  readonly usernamePrefix?: string;
  readonly groupsClaim?: string;
  readonly groupsPrefix: string;
  readonly requiredClaims: Readonly<Record<string, string>>;
  readonly caFile?: string;
  readonly signingAlgorithms: readonly string[];
}

const DEFAULT_ISSUER = "https://kubernetes.default.svc.cluster.local";

/** Header names and common name as set by kubeadm. */
const DEFAULT_REQUEST_HEADER: RequestHeaderConfig = {
  allowedNames: ["front-proxy-client"],
  usernameHeaders: ["X-Remote-User"],
  uidHeaders: ["X-Remote-Uid"],
  groupHeaders: ["X-Remote-Group"],
  extraHeadersPrefix: ["X-Remote-Extra-"],
};

export const DEFAULT_IDENTITY_CONFIG: IdentityConfig = {
  anonymousAuth: true,
  requestHeader: DEFAULT_REQUEST_HEADER,
  bootstrapTokenAuth: true,
  serviceAccount: { issuers: [DEFAULT_ISSUER], keyFiles: [], extendTokenExpiration: true },
  apiAudiences: [],
};

const SIGNING_ALGORITHMS = ["RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "PS256", "PS384", "PS512"];

/** Upstream's minimum. */
const MAX_EXPIRATION_MS_MIN = 3_600_000;
const MAX_EXPIRATION_MS_MAX = 2 ** 32 * 1_000;

export const identityFlags = {
  "anonymous-auth": {
    type: "boolean",
    default: true,
    doc: "Treat requests without credentials as system:anonymous. If false, they are rejected with 401.",
  },
  "client-ca-file": {
    type: "string",
    placeholder: "FILE",
    doc: "CA certificates (PEM) that client certificates are verified with. Default: the cluster's own CA.",
  },
  "requestheader-client-ca-file": {
    type: "string",
    placeholder: "FILE",
    doc: "CA certificates (PEM) of authenticating proxies, which pass the user's identity in request headers. Default: a generated CA.",
  },
  "requestheader-allowed-names": {
    type: "list",
    placeholder: "NAME,...",
    doc: "Common names that such proxies may have. Default: front-proxy-client; with --requestheader-client-ca-file, any.",
  },
  "requestheader-username-headers": {
    type: "list",
    placeholder: "HEADER,...",
    doc: "Request headers with the user name. Default: X-Remote-User.",
  },
  "requestheader-uid-headers": { type: "list", placeholder: "HEADER,...", doc: "Request headers with the UID. Default: X-Remote-Uid." },
  "requestheader-group-headers": {
    type: "list",
    placeholder: "HEADER,...",
    doc: "Request headers with the groups. Default: X-Remote-Group.",
  },
  "requestheader-extra-headers-prefix": {
    type: "list",
    placeholder: "PREFIX,...",
    doc: "Prefixes of request headers with extra user attributes. Default: X-Remote-Extra-.",
  },
  "token-auth-file": {
    type: "string",
    placeholder: "FILE",
    doc: 'CSV file of static bearer tokens, one per line: token,user,uid,"group1,group2".',
  },
  "enable-bootstrap-token-auth": {
    type: "boolean",
    default: true,
    doc: "Accept Secrets of type bootstrap.kubernetes.io/token in kube-system as bearer tokens of joining nodes.",
  },
  "service-account-issuer": {
    type: "list",
    placeholder: "URL,...",
    doc: `Issuer of service account tokens. The first is used in new tokens, all are accepted. Default: ${DEFAULT_ISSUER}.`,
    // As upstream: any string is valid, but one with a colon must be a URL.
    expects: (issuer: string) => (issuer.includes(":") && !URL.canParse(issuer) ? "a URL such as https://example.com" : undefined),
  },
  "service-account-key-file": {
    type: "list",
    placeholder: "FILE,...",
    doc: "Public or private keys (PEM) that service account tokens are verified with. Default: the key of --service-account-signing-key-file.",
  },
  "service-account-signing-key-file": {
    type: "string",
    placeholder: "FILE",
    doc: "Private key (PEM) that signs service account tokens. Default: a generated key, kept in --cert-dir.",
  },
  "service-account-max-token-expiration": {
    type: "string",
    placeholder: "DURATION",
    doc: "Maximum lifetime of service account tokens, at least 1h; longer requests are capped. Default: unlimited.",
    expects: (text: string) => {
      const durationMs = millisecondsOf(text);
      return durationMs >= MAX_EXPIRATION_MS_MIN && durationMs <= MAX_EXPIRATION_MS_MAX
        ? undefined
        : "a duration of at least 1h such as 24h";
    },
  },
  "service-account-extend-token-expiration": {
    type: "boolean",
    default: true,
    doc: "Issue tokens of projected volumes for one year, for clients that do not reload them.",
  },
  "service-account-jwks-uri": {
    type: "string",
    placeholder: "URL",
    doc: "URL of the key set in the OpenID Connect discovery document. Default: /openid/v1/jwks of this server.",
    expects: (url: string) => (url.startsWith("https://") && isUrl(url) ? undefined : "a URL such as https://example.com/keys"),
  },
  "api-audiences": {
    type: "list",
    placeholder: "NAME,...",
    doc: "Audiences of this API server: a token must be issued for at least one of them. Default: --service-account-issuer.",
  },
  "oidc-issuer-url": {
    type: "string",
    placeholder: "URL",
    doc: "URL of an OpenID Connect provider whose ID tokens are accepted. Requires --oidc-client-id.",
    expects: (url: string) =>
      url.startsWith("https://") && isUrl(url) && redactPassword(url) === url && !/[?#]/.test(url)
        ? undefined
        : "a URL such as https://accounts.example.com",
  },
  "oidc-client-id": { type: "string", placeholder: "NAME", doc: "Client ID, which must be an audience of the ID token." },
  "oidc-username-claim": { type: "string", placeholder: "CLAIM", default: "sub", doc: "Claim to use as the user name." },
  "oidc-username-prefix": {
    type: "string",
    placeholder: "PREFIX",
    doc: 'Prefix of user names; "-" disables it. Default: the issuer URL and "#", unless the claim is email.',
  },
  "oidc-groups-claim": { type: "string", placeholder: "CLAIM", doc: "Claim to use as the user's groups." },
  "oidc-groups-prefix": { type: "string", placeholder: "PREFIX", default: "", doc: "Prefix of group names. Default: none." },
  "oidc-required-claim": {
    type: "list",
    placeholder: "CLAIM=VALUE,...",
    doc: "Claims with the exact value that an ID token must have.",
    expects: (pair: string) => (/^[^=]+=/.test(pair) ? undefined : "a claim and its value such as hd=example.com"),
  },
  "oidc-ca-file": {
    type: "string",
    placeholder: "FILE",
    doc: "CA certificates (PEM) of the provider's server. Default: the CAs that this machine trusts.",
  },
  "oidc-signing-algs": {
    type: "list",
    placeholder: "ALGORITHM,...",
    doc: "Accepted signature algorithms of ID tokens. Default: RS256.",
    expects: (name: string) => (SIGNING_ALGORITHMS.includes(name) ? undefined : `one of ${SIGNING_ALGORITHMS.join(", ")}`),
  },
  "authentication-config": {
    type: "string",
    placeholder: "FILE",
    doc: "AuthenticationConfiguration file (apiserver.config.k8s.io/v1), instead of the --oidc-* flags and --anonymous-auth.",
  },
  "authorization-mode": {
    type: "list",
    placeholder: "MODE,...",
    doc: `Authorizers to consult, in this order: ${Object.keys(authorizationModules).join(", ")}. Default: Node,RBAC.`,
    expects: (mode: string) =>
      Object.hasOwn(authorizationModules, mode) ? undefined : `one of ${Object.keys(authorizationModules).join(", ")}`,
  },
} as const satisfies FlagSet;

export type IdentityFlagValues = FlagValues<typeof identityFlags>;

/** Invalid combinations of individually valid flags. */
export function identityProblems(values: IdentityFlagValues): string[] {
  const problems: string[] = [];
  const [issuer, client] = [values["oidc-issuer-url"], values["oidc-client-id"]];
  if ((issuer === undefined) !== (client === undefined)) problems.push("--oidc-issuer-url and --oidc-client-id must be set together");
  if (values["authentication-config"] !== undefined && issuer !== undefined)
    problems.push("--authentication-config and --oidc-issuer-url are mutually exclusive: configure the issuer in one of them");
  const issuers = orDefault(values["service-account-issuer"], DEFAULT_IDENTITY_CONFIG.serviceAccount.issuers);
  if (issuer !== undefined && issuers.includes(issuer))
    problems.push("--oidc-issuer-url and --service-account-issuer must differ: otherwise the issuer of a token is ambiguous");
  if (new Set(issuers).size < issuers.length) problems.push(`--service-account-issuer contains duplicates: ${issuers.join(",")}`);
  if (values["service-account-key-file"].length > 0 && values["service-account-signing-key-file"] === undefined)
    problems.push(
      "--service-account-key-file requires --service-account-signing-key-file: tokens signed with a generated key would not be accepted",
    );
  const modes = values["authorization-mode"];
  if (new Set(modes).size < modes.length) problems.push(`--authorization-mode contains duplicates: ${modes.join(",")}`);
  return problems;
}

/** Requires values without problems. */
export function identityConfig(values: IdentityFlagValues): IdentityConfig {
  const { issuers } = DEFAULT_IDENTITY_CONFIG.serviceAccount;
  const oidc = oidcConfig(values);
  return {
    anonymousAuth: values["anonymous-auth"],
    ...named("clientCaFile", values["client-ca-file"]),
    requestHeader: requestHeaderConfig(values),
    ...named("tokenAuthFile", values["token-auth-file"]),
    bootstrapTokenAuth: values["enable-bootstrap-token-auth"],
    serviceAccount: {
      issuers: orDefault(values["service-account-issuer"], issuers),
      keyFiles: values["service-account-key-file"],
      ...named("signingKeyFile", values["service-account-signing-key-file"]),
      ...named("maxTokenExpirationSeconds", secondsOf(values["service-account-max-token-expiration"])),
      extendTokenExpiration: values["service-account-extend-token-expiration"],
      ...named("jwksUri", values["service-account-jwks-uri"]),
    },
    apiAudiences: values["api-audiences"],
    ...named("oidc", oidc),
    ...named("authenticationConfigFile", values["authentication-config"]),
  };
}

function requestHeaderConfig(values: IdentityFlagValues): RequestHeaderConfig {
  const clientCaFile = values["requestheader-client-ca-file"];
  // Any name is accepted for a CA of the user, which is dedicated to proxies; the generated CA signs one certificate, upstream's default is
  // no name.
  const allowedNames = clientCaFile === undefined ? DEFAULT_REQUEST_HEADER.allowedNames : [];
  return {
    ...named("clientCaFile", clientCaFile),
    allowedNames: orDefault(values["requestheader-allowed-names"], allowedNames),
    usernameHeaders: orDefault(values["requestheader-username-headers"], DEFAULT_REQUEST_HEADER.usernameHeaders),
    uidHeaders: orDefault(values["requestheader-uid-headers"], DEFAULT_REQUEST_HEADER.uidHeaders),
    groupHeaders: orDefault(values["requestheader-group-headers"], DEFAULT_REQUEST_HEADER.groupHeaders),
    extraHeadersPrefix: orDefault(values["requestheader-extra-headers-prefix"], DEFAULT_REQUEST_HEADER.extraHeadersPrefix),
  };
}

function oidcConfig(values: IdentityFlagValues): OidcConfig | undefined {
  const [issuerUrl, clientId] = [values["oidc-issuer-url"], values["oidc-client-id"]];
  if (issuerUrl === undefined || clientId === undefined) return undefined;
  return {
    issuerUrl,
    clientId,
    usernameClaim: values["oidc-username-claim"],
    ...named("usernamePrefix", values["oidc-username-prefix"]),
    ...named("groupsClaim", values["oidc-groups-claim"]),
    groupsPrefix: values["oidc-groups-prefix"],
    requiredClaims: Object.fromEntries(values["oidc-required-claim"].map((pair) => splitPair(pair))),
    ...named("caFile", values["oidc-ca-file"]),
    signingAlgorithms: orDefault(values["oidc-signing-algs"], ["RS256"]),
  };
}

/** "hd=example.com" */
function splitPair(pair: string): [string, string] {
  const at = pair.indexOf("=");
  return [pair.slice(0, at), pair.slice(at + 1)];
}

function orDefault(given: readonly string[], standard: readonly string[]): readonly string[] {
  return given.length === 0 ? standard : given;
}

/** A member, if it has a value. */
function named<const Name extends string, Value>(name: Name, value: Value | undefined): { readonly [N in Name]?: Value } {
  return (value === undefined ? {} : { [name]: value }) as { readonly [N in Name]?: Value };
}

function secondsOf(duration: string | undefined): number | undefined {
  return duration === undefined ? undefined : millisecondsOf(duration) / 1_000;
}

/** NaN if invalid. */
function millisecondsOf(text: string): number {
  try {
    return durationToMs(parseDuration(text));
  } catch {
    return NaN;
  }
}

function isUrl(text: string): boolean {
  return URL.canParse(text);
}
