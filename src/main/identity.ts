/**
 * Who is who, from what was set (identity-config.ts) and from the cluster's own certificates and keys (pki). Files that were named are
 * read here, once at start; those with authorities again while the server runs, since they are where new ones are put before old ones end.
 */
import type { Identity } from "../apiserver/identity.ts";
import type { Verifier } from "../base/signing.ts";
import { keyIdOf, verifierOfSigner } from "../host/keys.ts";
import type { IdentityConfig, ServiceAccountConfig } from "./identity-config.ts";
import { readAuthorities, readSigningKey, readVerifyingKeys } from "./pki/given-files.ts";
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

export async function readIdentity(config: IdentityConfig, pki: Pki, authorities: ClientAuthorities): Promise<Identity> {
  const { requestHeader } = config;
  return {
    anonymous: config.anonymousAuth,
    clientAuthority: "clients" satisfies keyof ClientAuthorities,
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
    openIdIssuers: [],
  };
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
