/**
 * Authenticates users by the headers of an authenticating proxy. The proxy proves its identity by a certificate of the front-proxy CA with
 * an allowed name; from all other clients these headers are ignored.
 */
import { Lru } from "../../../base/lru.ts";
import { AuthenticationError, type RequestAuthenticatorFactory } from "../../framework/authentication.ts";
import type { ExchangeRequest } from "../../framework/exchange.ts";
import type { FrontProxy } from "../../framework/identity.ts";
import type { User } from "../../framework/request.ts";
import { extraHeaders, firstHeaderText, headerTexts } from "../header-text.ts";
import { validSubject } from "../peer-certificate.ts";

/** Maximum users kept as the same object, so that authorization results can be cached. */
const USERS_MAX = 10_000;
/** Maximum characters of their data, which may be long. */
const USERS_LENGTH_MAX = 8 * 1024 * 1024;

export const frontProxyHeaders: RequestAuthenticatorFactory = ({ identity: { frontProxy, clientAuthority }, clock }) => {
  if (frontProxy === undefined) return undefined;
  const users = new Lru<string, User>({ max: USERS_MAX, maxWeight: USERS_LENGTH_MAX, weigh: (_, key) => key.length });
  return {
    name: "front proxy",
    authenticate(request) {
      const { certificate } = request.peer;
      if (certificate === undefined) return undefined;
      if (!certificate.authorities.includes(frontProxy.authority)) {
        // The client certificate authenticator is next.
        if (clientAuthority !== undefined && certificate.authorities.includes(clientAuthority)) return undefined;
        throw new AuthenticationError("x509: certificate signed by unknown authority");
      }
      const { commonName } = validSubject(certificate, clock.now());
      if (frontProxy.allowedNames.length > 0 && !frontProxy.allowedNames.includes(commonName))
        throw new AuthenticationError(`x509: subject with cn=${commonName} is not in the allowed list`);
      const user = userOf(frontProxy, request);
      return user === undefined ? undefined : same(users, user);
    },
  };
};

/** undefined: the proxy sent no user name. */
function userOf(
  { usernameHeaders, uidHeaders, groupHeaders, extraHeaderPrefixes }: FrontProxy,
  request: ExchangeRequest,
): User | undefined {
  const name = firstOf(request, usernameHeaders);
  if (name === "") return undefined;
  const uid = firstOf(request, uidHeaders);
  const extra = new Map<string, readonly string[]>();
  for (const prefix of extraHeaderPrefixes) {
    for (const [key, values] of extraHeaders(request, prefix)) extra.set(key, [...(extra.get(key) ?? []), ...values]);
  }
  return {
    name,
    ...(uid === "" ? {} : { uid }),
    groups: groupHeaders.flatMap((header) => headerTexts(request, header)).filter((group) => group !== ""),
    ...(extra.size === 0 ? {} : { extra: Object.fromEntries(extra) }),
  };
}

/** Returns the first non-empty header of these; "" if none exists. */
function firstOf(request: ExchangeRequest, headers: readonly string[]): string {
  for (const header of headers) {
    const value = firstHeaderText(request, header);
    if (value !== "") return value;
  }
  return "";
}

function same(users: Lru<string, User>, user: User): User {
  const key = JSON.stringify(user);
  const known = users.get(key);
  if (known !== undefined) return known;
  users.set(key, user);
  return user;
}
