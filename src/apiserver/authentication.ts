/** The seam of "who?": from what a client shows to a user. Identity fills it with certificates, tokens and reviews. */
import type { ExchangeRequest } from "./exchange.ts";
import type { User } from "./request.ts";

export interface Authenticator {
  /** undefined: shows nothing, or something that this one does not know. */
  authenticate(request: ExchangeRequest): User | undefined;
  /** Of a token by itself, for reviews. */
  authenticateToken(token: string): User | undefined;
}

export const ANONYMOUS: User = { name: "system:anonymous", groups: ["system:unauthenticated"] };

const BEARER = "Bearer ";

/** One token, made at start, whose bearer may do everything. */
export function bearerToken(token: string, user: User): Authenticator {
  const authenticateToken = (shown: string): User | undefined => (equalsInConstantTime(shown, token) ? user : undefined);
  return {
    authenticateToken,
    authenticate(request) {
      const shown = request.header("authorization") ?? "";
      return shown.startsWith(BEARER) ? authenticateToken(shown.slice(BEARER.length).trim()) : undefined;
    },
  };
}

/** Takes as long for a nearly right token as for a wrong one, so that it cannot be guessed piece by piece. */
function equalsInConstantTime(shown: string, wanted: string): boolean {
  let difference = shown.length ^ wanted.length;
  for (let index = 0; index < wanted.length; index++) difference |= wanted.charCodeAt(index) ^ (shown.charCodeAt(index) || 0);
  return difference === 0;
}
