/** Ways to show who one is, in the order of asking, which is upstream's: the first that knows what it is shown decides. */
import type { RequestAuthenticatorFactory, TokenAuthenticatorFactory } from "../framework/authentication.ts";
import { bootstrapTokens } from "./bootstrap-tokens/bootstrap-tokens.ts";
import { clientCertificates } from "./client-certificate/client-certificate.ts";
import { frontProxyHeaders } from "./front-proxy/front-proxy.ts";
import { openIdTokens } from "./open-id/open-id.ts";
import { serviceAccountTokenAuthenticator } from "./service-account-token/service-account-token.ts";
import { staticTokens } from "./static-tokens/static-tokens.ts";

export const requestAuthenticators: readonly RequestAuthenticatorFactory[] = [frontProxyHeaders, clientCertificates];

/** Tokens of other issuers come last: to find out about one may mean to ask the issuer. */
export const tokenAuthenticators: readonly TokenAuthenticatorFactory[] = [
  staticTokens,
  serviceAccountTokenAuthenticator,
  bootstrapTokens,
  openIdTokens,
];
