/** Tokens that were in a file when the server started (--token-auth-file): they last as long as the server does. */
import type { TokenAuthenticatorFactory } from "../../framework/authentication.ts";

export const staticTokens: TokenAuthenticatorFactory = ({ identity: { staticTokens: users } }) => {
  if (users === undefined || users.size === 0) return undefined;
  const answers = new Map([...users].map(([token, user]) => [token, { user }]));
  // A table is asked by the hash of what is looked for, so how long it takes tells nothing of how much of a token is right.
  return { name: "static token", authenticateToken: (token) => answers.get(token) };
};
