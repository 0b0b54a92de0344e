import { EvaluationTurns } from "../../../cel/program/evaluation-turns.ts";
import { doesNotReject, rejects } from "node:assert/strict";
import { test } from "node:test";
import { AuthenticationError } from "../../framework/authentication.ts";
import type { User } from "../../framework/request.ts";
import { TokenRules } from "./token-rules.ts";

const CLAIMS = { sub: "jane", hd: "example.com", level: 3, "a.b/c": { "d-e": [{ "f.g": true }] }, email_verified: false };
const USER: User = { name: "jane", groups: ["dev", "ops"], extra: { "example.com/team": ["a"] } };

async function check(subject: "claimRules" | "userRules", ...expressions: readonly string[]): Promise<void> {
  const rules = new TokenRules({ [subject]: expressions.map((expression) => ({ expression, message: "that is the rule" })) });
  await rules.check(new EvaluationTurns(), CLAIMS, USER);
}

const fulfilled: readonly [subject: "claimRules" | "userRules", expression: string][] = [
  ["claimRules", "claims.hd == 'example.com' && !claims.email_verified"],
  ["claimRules", "claims.level == 3 && type(claims.level) == double"],
  ["claimRules", "claims.a__dot__b__slash__c.d__dash__e[0].f__dot__g == true"],
  ["claimRules", "!has(claims.nonsense) && claims.?nonsense.orValue('x') == 'x'"],
  ["claimRules", "'sub' in claims && claims.size() == 5"],
  ["userRules", "user.username == 'jane' && user.uid == ''"],
  ["userRules", "user.groups.all(group, !group.startsWith('system:')) && 'ops' in user.groups"],
  ["userRules", "user.extra['example.com/team'][0] == 'a'"],
];

for (const [subject, expression] of fulfilled) {
  test(`a token fulfils ${expression}`, () => doesNotReject(check(subject, expression)));
}

const CLAIM_PROBLEM = "oidc: error evaluating claim validation expression";
const USER_PROBLEM = "oidc: error evaluating user info validation rule";

const refused: readonly [title: string, subject: "claimRules" | "userRules", expressions: readonly string[], message: string][] = [
  [
    "does not fulfil a rule for claims",
    "claimRules",
    ["true", "claims.hd == 'x'"],
    `${CLAIM_PROBLEM}: validation expression 'claims.hd == 'x'' failed: that is the rule`,
  ],
  [
    "lacks a claim, whatever the rules before say",
    "claimRules",
    ["false", "claims.nonsense == 'x'"],
    `${CLAIM_PROBLEM}: expression 'claims.nonsense == 'x'' resulted in error: no such key: nonsense`,
  ],
  [
    "is of a user who does not fulfil a rule",
    "userRules",
    ["'admin' in user.groups"],
    `${USER_PROBLEM}: validation expression ''admin' in user.groups' failed: that is the rule`,
  ],
];

for (const [title, subject, expressions, message] of refused) {
  test(`a token is rejected if it ${title}`, () => rejects(check(subject, ...expressions), new AuthenticationError(message)));
}
