/**
 * Who is who, from what was set (identity-config.ts) and from the cluster's own certificates and keys (pki). Files that were named are
 * read here, once at start; those with authorities again while the server runs, since they are where new ones are put before old ones end.
 */
import type { Identity, OpenIdIssuer } from "../apiserver/identity.ts";
import type { Logger } from "../base/logger.ts";
import type { Verifier } from "../base/signing.ts";
import { fetchHttpsDocument } from "../host/https-document.ts";
import { keyIdOf, readJsonWebKey, verifierOfSigner } from "../host/keys.ts";
import { readAuthenticationConfiguration, type AuthenticationConfiguration } from "./authentication-configuration.ts";
import { issuerOfFlags, readStaticTokens } from "./authentication-files.ts";
import type { IdentityConfig, OidcConfig, ServiceAccountConfig } from "./identity-config.ts";
import { readAuthorities, readGiven, readSigningKey, readVerifyingKeys, usable } from "./pki/given-files.ts";
import type { Pki } from "./pki/pki.ts";

/** By their names between the HTTP room, which finds out who signed a certificate, and the authenticators, which ask for one of them. */
export interface ClientAuthorities {
  /** PEM bundles. */
  readonly clients: string;
  readonly "front-proxy": string;
}

/** The cluster's own authority always signs clients, also if another was given: the kubeconfigs that are written hold what it signed. */
export async function readClientAuthorities({ clientCaFile, requestHeader }: IdentityConfig, pki: Pki): Promise<ClientAuthorities> {
  const given = clientCaFile === undefined ? "" : await readAuthorities(clientCaFile, "--client-ca-file");
  return {
    clients: `${pki.authority}${given}`,
    "front-proxy":
      requestHeader.clientCaFile === undefined
        ? pki.frontProxyAuthority
        : await readAuthorities(requestHeader.clientCaFile, "--requestheader-client-ca-file"),
  };
}

export interface IdentityContext {
  readonly pki: Pki;
  readonly clientAuthorities: ClientAuthorities;
  /** What clients trust the server by, PEM. */
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
    clientAuthority: "clients" satisfies keyof ClientAuthorities,
    clientAuthorityCertificates: authorities.clients,
    serverAuthority,
    frontProxy: {
      authority: "front-proxy" satisfies keyof ClientAuthorities,
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

async function readTokens(path: string, log: Logger): Promise<NonNullable<Identity["staticTokens"]>> {
  const flag = "--token-auth-file";
  const text = await readGiven(path, flag);
  const { users, warnings } = usable(path, flag, () => readStaticTokens(text));
  for (const warning of warnings) log.warn(`${path}: ${warning}`);
  return users;
}

async function readIssuer(oidc: OidcConfig): Promise<OpenIdIssuer> {
  return issuerOfFlags(oidc, oidc.caFile === undefined ? undefined : await readAuthorities(oidc.caFile, "--oidc-ca-file"));
}

async function readDescription(path: string, { serviceAccount }: IdentityConfig): Promise<AuthenticationConfiguration> {
  const flag = "--authentication-config";
  const text = await readGiven(path, flag);
  return usable(path, flag, () => readAuthenticationConfiguration(new TextEncoder().encode(text), serviceAccount.issuers));
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
