import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { issuerOfFlags, readStaticTokens } from "./authentication-files.ts";
import type { OidcConfig } from "./identity-config.ts";

test("a token file has a user for each token", () => {
  const { users, warnings } = readStaticTokens('t1,bob,1\nt2,eve,,"dev,ops"\n\nt3,sam,3,"one"\nt4,kim,4,,ignored\n');

  deepEqual(
    [...users],
    [
      ["t1", { name: "bob", uid: "1", groups: [] }],
      ["t2", { name: "eve", groups: ["dev", "ops"] }],
      ["t3", { name: "sam", uid: "3", groups: ["one"] }],
      ["t4", { name: "kim", uid: "4", groups: [""] }],
    ],
  );
  deepEqual(warnings, []);
});

test("a record with an empty token is ignored, and of duplicate tokens the last wins; both are reported", () => {
  const { users, warnings } = readStaticTokens(",alice,1\nsecret-1,bob,1\nsecret-1,eve,2\n");

  deepEqual([...users], [["secret-1", { name: "eve", uid: "2", groups: [] }]]);
  equal(warnings.length, 2);
  equal(warnings.join().includes("secret"), false);
});

test("a record with too few columns is rejected without revealing its content", () => {
  throws(
    () => readStaticTokens("t1,bob,1\nsecret,eve\n"),
    (error: Error) => error.message.endsWith("record 2 has 2") && !error.message.includes("secret"),
  );
});

const OIDC: OidcConfig = {
  issuerUrl: "https://i",
  clientId: "us",
  usernameClaim: "sub",
  groupsPrefix: "g:",
  requiredClaims: { hd: "b" },
  signingAlgorithms: ["RS256"],
};

const prefixes: readonly [flags: Partial<OidcConfig>, prefix: string][] = [
  [{}, "https://i#"],
  [{ usernamePrefix: "" }, "https://i#"],
  [{ usernamePrefix: "-" }, ""],
  [{ usernamePrefix: "p:" }, "p:"],
  [{ usernameClaim: "email" }, ""],
  [{ usernameClaim: "email", usernamePrefix: "p:" }, "p:"],
  [{ usernameClaim: "name" }, "https://i#"],
];

for (const [flags, prefix] of prefixes) {
  test(`with ${JSON.stringify(flags)} user names have the prefix ${JSON.stringify(prefix)}`, () => {
    equal(issuerOfFlags({ ...OIDC, ...flags }, undefined).usernamePrefix, prefix);
  });
}

test("flags describe an issuer", () => {
  deepEqual(issuerOfFlags({ ...OIDC, groupsClaim: "groups" }, "PEM"), {
    url: "https://i",
    audiences: ["us"],
    certificateAuthority: "PEM",
    usernameClaim: "sub",
    usernamePrefix: "https://i#",
    groupsClaim: "groups",
    groupsPrefix: "g:",
    requiredClaims: { hd: "b" },
    algorithms: ["RS256"],
  });
});
