/**
 * Authentication settings from the configuration (identity-config.ts) and the cluster's own certificates and keys (pki). Files are read
 * once at start; CA bundles are reloaded while the server runs, for CA rotation.
 */
import { encodeBase64 } from "../../api/machinery/codec/base64.ts";
import { pemBlocks } from "../../api/machinery/x509/pem.ts";
import type { Identity, OpenIdIssuer } from "../../apiserver/framework/identity.ts";
import type { Logger } from "../../base/logger.ts";
import type { Verifier } from "../../base/crypto/signing.ts";
import { fetchHttpsDocument } from "../../host/http/client/https-document.ts";
import { keyIdOf, readJsonWebKey, verifierOfSigner } from "../../host/crypto/keys.ts";
import { readAuthenticationConfiguration, type AuthenticationConfiguration } from "../../config/authentication-configuration.ts";
import { issuerOfFlags, readStaticTokens, type StaticTokens } from "../../config/authentication-files.ts";
import { readFileFlag, usable } from "../../cli/framework/file-flag.ts";
import type { IdentityConfig, OidcConfig, ServiceAccountConfig } from "../../config/identity-config.ts";
import { readAuthorities, readSigningKey, readVerifyingKeys } from "../../config/certificate-files.ts";
import type { Pki } from "../../pki/pki.ts";

/** Names of CA bundles, shared by the HTTP server, which verifies client certificates, and the authenticators. */
export interface ClientAuthorityBundles {
  /** PEM bundles. */
  readonly clients: string;
  readonly "front-proxy": string;
}

/** The cluster's own CA is always accepted for clients: it signed the generated kubeconfigs. */
export async function readClientAuthorities({ clientCaFile, requestHeader }: IdentityConfig, pki: Pki): Promise<ClientAuthorityBundles> {
  const given = clientCaFile === undefined ? "" : await readAuthorities(clientCaFile, "--client-ca-file");
  const clients = `${pki.authority}${given}`;
  const proxies =
    requestHeader.clientCaFile === undefined
      ? pki.frontProxyAuthority
      : await readAuthorities(requestHeader.clientCaFile, "--requestheader-client-ca-file");
  checkApart({ clients, proxies, allowedNames: requestHeader.allowedNames });
  return { clients, "front-proxy": proxies };
}

interface Apart {
  /** PEM bundles. */
  readonly clients: string;
  readonly proxies: string;
  /** Common names of proxies; empty: any. */
  readonly allowedNames: readonly string[];
}

/** Throws if a CA signs both, so that a client could act as a proxy. */
export function checkApart({ clients, proxies, allowedNames }: Apart): void {
  if (allowedNames.length === 0 && certificatesOf(clients).some((one) => certificatesOf(proxies).includes(one)))
    throw new Error(SHARED_AUTHORITY);
}

/** Upstream's message. Otherwise every client could impersonate any user. */
const SHARED_AUTHORITY =
  "--requestheader-client-ca-file and --client-ca-file contain overlapping certificates; --requestheader-allowed-names must be specified to ensure regular client certificates cannot set authenticating proxy headers for arbitrary users";

/** Ignores other PEM blocks of the file. */
function certificatesOf(bundle: string): readonly string[] {
  return Array.from(pemBlocks(new TextEncoder().encode(bundle)), ({ bytes }) => encodeBase64(bytes));
}

export interface IdentityContext {
  readonly pki: Pki;
  readonly clientAuthorities: ClientAuthorityBundles;
  /** CA of the server (PEM), for clients. */
  readonly serverAuthority: string;
  readonly log: Logger;
}

export async function readIdentity(config: IdentityConfig, context: IdentityContext): Promise<Identity> {
  const { requestHeader, authenticationConfigFile } = config;
  const { pki, clientAuthorities: authorities, serverAuthority } = context;
  const described = authenticationConfigFile === undefined ? undefined : await readDescription(authenticationConfigFile, config);
  const issuers = described?.issuers ?? (config.oidc === undefined ? [] : [await readIssuer(config.oidc)]);
  return {
    anonymous: described?.anonymous?.enabled ?? config.anonymousAuth,
    ...(described?.anonymous?.paths === undefined ? {} : { anonymousPaths: described.anonymous.paths }),
    clientAuthority: "clients" satisfies keyof ClientAuthorityBundles,
    clientAuthorityCertificates: authorities.clients,
    serverAuthority,
    frontProxy: {
      authority: "front-proxy" satisfies keyof ClientAuthorityBundles,
      allowedNames: requestHeader.allowedNames,
      usernameHeaders: lowerCase(requestHeader.usernameHeaders),
      uidHeaders: lowerCase(requestHeader.uidHeaders),
      groupHeaders: lowerCase(requestHeader.groupHeaders),
      extraHeaderPrefixes: lowerCase(requestHeader.extraHeadersPrefix),
      authorityCertificates: authorities["front-proxy"],
    },
    serviceAccounts: await readServiceAccounts(config, pki),
    bootstrapTokens: config.bootstrapTokenAuth,
    ...(config.tokenAuthFile === undefined ? {} : { staticTokens: await readTokens(config.tokenAuthFile, context.log) }),
    openIdIssuers: issuers,
    ...(issuers.length === 0 ? {} : { openId: { fetch: fetchHttpsDocument, readKey: readJsonWebKey } }),
  };
}

export async function readStaticTokenFile(path: string): Promise<StaticTokens> {
  const flag = "--token-auth-file";
  const text = await readFileFlag(path, flag);
  return usable(path, flag, () => readStaticTokens(text));
}

async function readTokens(path: string, log: Logger): Promise<StaticTokens["users"]> {
  const { users, warnings } = await readStaticTokenFile(path);
  for (const warning of warnings) log.warn(`${path}: ${warning}`);
  return users;
}

async function readIssuer(oidc: OidcConfig): Promise<OpenIdIssuer> {
  return issuerOfFlags(oidc, oidc.caFile === undefined ? undefined : await readAuthorities(oidc.caFile, "--oidc-ca-file"));
}

export async function readDescription(
  path: string,
  { serviceAccount, anonymousAuth }: IdentityConfig,
): Promise<AuthenticationConfiguration> {
  const flag = "--authentication-config";
  const text = await readFileFlag(path, flag);
  return usable(path, flag, () => {
    const described = readAuthenticationConfiguration(new TextEncoder().encode(text), serviceAccount.issuers);
    if (described.anonymous === undefined || anonymousAuth) return described;
    throw new Error("it configures anonymous authentication, and so does --anonymous-auth=false: leave one of them out");
  });
}

function lowerCase(headers: readonly string[]): readonly string[] {
  return headers.map((name) => name.toLowerCase());
}

async function readServiceAccounts(
  { serviceAccount: config, apiAudiences }: IdentityConfig,
  pki: Pki,
): Promise<NonNullable<Identity["serviceAccounts"]>> {
  const { issuers, maxTokenExpirationSeconds, jwksUri } = config;
  return {
    issuers,
    audiences: apiAudiences.length === 0 ? issuers : apiAudiences,
    ...(await readTokenKeys(config, pki)),
    ...(maxTokenExpirationSeconds === undefined ? {} : { maxExpirationSeconds: maxTokenExpirationSeconds }),
    extendsExpiration: config.extendTokenExpiration,
    ...(jwksUri === undefined ? {} : { jwksUri }),
  };
}

async function readTokenKeys({ signingKeyFile, keyFiles }: ServiceAccountConfig, pki: Pki) {
  const { signer } = signingKeyFile === undefined ? pki.serviceAccounts : { signer: await readSigningKey(signingKeyFile) };
  const verifiers = [verifierOfSigner(signer), ...(await readVerifyingKeys(keyFiles))];
  const byId = new Map(verifiers.map((verifier): [string, Verifier] => [verifier.keyId, verifier]));
  return { signer, signerKeyId: keyIdOf(signer.publicKey), verifiers: [...byId.values()] };
}
