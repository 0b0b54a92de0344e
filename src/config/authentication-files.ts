/**
 * Parses static tokens (--token-auth-file) and one OpenID Connect issuer (--oidc-*). The caller reads the files; the text becomes plain
 * values. Messages never contain a token. Not here: the file with several issuers (authentication-configuration.ts).
 */
import type { OpenIdIssuer } from "../apiserver/framework/identity.ts";
import type { User } from "../apiserver/framework/request.ts";
import { csvRecords } from "./csv.ts";
import type { OidcConfig } from "./identity-config.ts";

export interface StaticTokens {
  readonly users: ReadonlyMap<string, User>;
  /** Messages for the log. */
  readonly warnings: readonly string[];
}

/** Lines of `token,name,uid` and optionally `"group1,group2"`. Throws for any other format. */
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

/** Issuer of the --oidc-* flags. `certificateAuthority`: text of --oidc-ca-file. */
export function issuerOfFlags(oidc: OidcConfig, certificateAuthority: string | undefined): OpenIdIssuer {
  const { issuerUrl, clientId, usernameClaim, usernamePrefix = "", groupsClaim, groupsPrefix, requiredClaims } = oidc;
  // Prefixes keep an issuer's user names apart from others'; e-mail addresses are unique without one.
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
