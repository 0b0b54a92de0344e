/**
 * What files and flags say about who is who: tokens and their users (--token-auth-file), and one issuer of tokens (--oidc-*). Whoever
 * calls reads the files; here their text becomes plain values. No token is ever part of what is said of a file.
 * Not here: the file that describes several issuers (authentication-configuration.ts).
 */
import type { OpenIdIssuer } from "../apiserver/framework/identity.ts";
import type { User } from "../apiserver/framework/request.ts";
import { csvRecords } from "./csv.ts";
import type { OidcConfig } from "./identity-config.ts";

export interface StaticTokens {
  readonly users: ReadonlyMap<string, User>;
  /** Sentences for the log. */
  readonly warnings: readonly string[];
}

/** Lines of `token,name,uid` and perhaps `"group1,group2"`. Throws one sentence if it has another form. */
export function readStaticTokens(text: string): StaticTokens {
  const users = new Map<string, User>();
  const warnings: string[] = [];
  for (const [index, record] of csvRecords(text).entries()) {
    const [token = "", name = "", uid, groups] = record;
    if (uid === undefined)
      throw new Error(`Each record must have at least 3 columns (token, user name, user uid), record ${index + 1} has ${record.length}`);
    if (token === "") {
      warnings.push(`Record ${index + 1} has an empty token and is ignored`);
      continue;
    }
    if (users.has(token)) warnings.push(`Record ${index + 1} has the same token as an earlier record and overrides it`);
    users.set(token, { name, ...(uid === "" ? {} : { uid }), groups: groups === undefined ? [] : groups.split(",") });
  }
  return { users, warnings };
}

/** What --oidc-* flags say. `certificateAuthority`: the text of --oidc-ca-file. */
export function issuerOfFlags(oidc: OidcConfig, certificateAuthority: string | undefined): OpenIdIssuer {
  const { issuerUrl, clientId, usernameClaim, usernamePrefix = "", groupsClaim, groupsPrefix, requiredClaims } = oidc;
  // Names of an issuer of tokens must not be taken for those of somebody else; e-mail addresses cannot be.
  const standard = usernameClaim === "email" ? "" : `${issuerUrl}#`;
  return {
    url: issuerUrl,
    audiences: [clientId],
    ...(certificateAuthority === undefined ? {} : { certificateAuthority }),
    usernameClaim,
    usernamePrefix: usernamePrefix === "-" ? "" : usernamePrefix === "" ? standard : usernamePrefix,
    ...(groupsClaim === undefined ? {} : { groupsClaim }),
    groupsPrefix,
    requiredClaims,
    algorithms: oidc.signingAlgorithms,
  };
}
