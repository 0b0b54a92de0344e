/** The authenticators in upstream's order: the first that recognizes the credential decides. */
import type { RequestAuthenticatorFactory, TokenAuthenticatorFactory } from "../framework/authentication.ts";
import { bootstrapTokens } from "./bootstrap-tokens/bootstrap-tokens.ts";
import { clientCertificates } from "./client-certificate/client-certificate.ts";
import { frontProxyHeaders } from "./front-proxy/front-proxy.ts";
import { openIdTokens } from "./open-id/open-id.ts";
import { serviceAccountTokenAuthenticator } from "./service-account-token/service-account-token.ts";
import { staticTokens } from "./static-tokens/static-tokens.ts";

export const requestAuthenticators: readonly RequestAuthenticatorFactory[] = [frontProxyHeaders, clientCertificates];

/** Tokens of external issuers come last: verifying one may need a request to the issuer. */
export const tokenAuthenticators: readonly TokenAuthenticatorFactory[] = [
  staticTokens,
  serviceAccountTokenAuthenticator,
  bootstrapTokens,
  openIdTokens,
];
