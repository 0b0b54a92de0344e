import { EvaluationTurns } from "../../../cel/program/evaluation-turns.ts";
import { deepEqual, rejects } from "node:assert/strict";
import { test } from "node:test";
import { AuthenticationError } from "../../framework/authentication.ts";
import type { ClaimMappings } from "../../framework/identity.ts";
import { ClaimMapper, type MappedAttributes } from "./claim-mapper.ts";

const CLAIMS = { sub: "jane", email: "j@example.com", roles: "dev,ops", teams: ["a", "", "b"], level: 3, none: null, empty: "" };

function map(mappings: ClaimMappings): Promise<MappedAttributes> {
  return new ClaimMapper(mappings).map(new EvaluationTurns(), CLAIMS);
}

const mapped: readonly [title: string, mappings: ClaimMappings, attributes: MappedAttributes][] = [
  ["a username", { username: "'oidc:' + claims.email" }, { name: "oidc:j@example.com" }],
  ["groups of a list, without empty ones", { groups: "claims.teams" }, { groups: ["a", "b"] }],
  ["groups of a computed list", { groups: "claims.roles.split(',').map(role, 'r:' + role)" }, { groups: ["r:dev", "r:ops"] }],
  ["groups of one string", { groups: "claims.sub" }, { groups: ["jane"] }],
  ["no groups, from null", { groups: "claims.none" }, { groups: [] }],
  ["no groups, from an empty string", { groups: "claims.empty" }, { groups: [] }],
  ["a UID", { uid: "claims.sub" }, { uid: "jane" }],
  [
    "extra attributes, without empty ones",
    {
      extra: [
        { key: "example.com/team", expression: "claims.teams" },
        { key: "example.com/none", expression: "claims.empty" },
      ],
    },
    { extra: { "example.com/team": ["a", "b"] } },
  ],
];

for (const [title, mappings, attributes] of mapped) {
  test(`expressions map claims to ${title}`, async () => deepEqual(await map(mappings), attributes));
}

const refused: readonly [title: string, mappings: ClaimMappings, message: string][] = [
  [
    "a username that is no string",
    { username: "claims.level" },
    "oidc: error evaluating username claim expression: username claim expression must return a string",
  ],
  ["an empty username", { username: "claims.empty" }, "oidc: empty username via CEL expression is not allowed"],
  [
    "a username from a claim that it lacks",
    { username: "claims.nonsense" },
    "oidc: error evaluating username claim expression: expression 'claims.nonsense' resulted in error: no such key: nonsense",
  ],
  [
    "groups that are no strings",
    { groups: "[claims.sub, claims.level]" },
    "oidc: error evaluating group claim expression: expression must return a string or a list of strings",
  ],
  [
    "a UID that is no string",
    { uid: "claims.teams" },
    "oidc: error evaluating uid claim expression: uid claim expression must return a string",
  ],
  [
    "an extra attribute that is no string",
    { extra: [{ key: "example.com/a", expression: "claims.level" }] },
    "oidc: error evaluating extra claim expression: claims.level: expression must return a string or a list of strings",
  ],
  [
    "an extra attribute from a claim that it lacks",
    { extra: [{ key: "example.com/a", expression: "claims.nonsense" }] },
    "expression 'claims.nonsense' resulted in error: no such key: nonsense",
  ],
];

for (const [title, mappings, message] of refused) {
  test(`a token is rejected if expressions map it to ${title}`, () => rejects(map(mappings), new AuthenticationError(message)));
}
