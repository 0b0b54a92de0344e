/** Tokens of the file --token-auth-file, read once at start and valid for the lifetime of the server. */
import type { TokenAuthenticatorFactory } from "../../framework/authentication.ts";

export const staticTokens: TokenAuthenticatorFactory = ({ identity: { staticTokens: users } }) => {
  if (users === undefined || users.size === 0) return undefined;
  const answers = new Map([...users].map(([token, user]) => [token, { user }]));
  // No timing attack: a Map lookup is by hash, so its duration does not depend on a common prefix.
  return { name: "static token", authenticateToken: (token) => answers.get(token) };
};
