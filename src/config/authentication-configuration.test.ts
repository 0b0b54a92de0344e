import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { readAuthenticationConfiguration, type AuthenticationConfiguration } from "./authentication-configuration.ts";

const HEAD = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n";

function read(text: string, head = HEAD): AuthenticationConfiguration {
  return readAuthenticationConfiguration(new TextEncoder().encode(head + text), ["https://accounts"]);
}

test("a configuration describes token issuers", () => {
  const { issuers, anonymous } = read(`
jwt:
- issuer:
    url: https://a
    discoveryURL: https://b/doc
    audiences: [x, z]
    audienceMatchPolicy: MatchAny
  claimValidationRules:
  - claim: hd
    requiredValue: example.com
  claimMappings:
    username: {claim: sub, prefix: "u:"}
    groups: {claim: roles, prefix: ""}
    uid: {claim: oid}
- issuer: {url: https://c, audiences: [x]}
  claimMappings: {username: {claim: email, prefix: ""}}
`);

  const [first, second] = issuers;
  deepEqual(
    { ...first, algorithms: first?.algorithms.length },
    {
      url: "https://a",
      discoveryUrl: "https://b/doc",
      audiences: ["x", "z"],
      usernameClaim: "sub",
      usernamePrefix: "u:",
      groupsClaim: "roles",
      groupsPrefix: "",
      uidClaim: "oid",
      requiredClaims: { hd: "example.com" },
      algorithms: 9,
    },
  );
  deepEqual([second?.usernameClaim, second?.groupsClaim, second?.requiredClaims], ["email", undefined, {}]);
  equal(anonymous, undefined);
});

test("a configuration has rules for claims and for users", () => {
  const { issuers } = read(
    issuer(
      GOOD,
      NAMED,
      "claimValidationRules: [{expression: claims.hd == 'a', message: wrong domain}, {claim: b, requiredValue: c}]",
      "userValidationRules: [{expression: '!user.username.startsWith(\"system:\")'}]",
    ),
  );

  deepEqual(issuers[0]?.claimRules, [{ expression: "claims.hd == 'a'", message: "wrong domain" }]);
  deepEqual(issuers[0]?.requiredClaims, { b: "c" });
  deepEqual(issuers[0]?.userRules, [{ expression: '!user.username.startsWith("system:")', message: "" }]);
});

test("anonymous authentication can be enabled, also for certain paths only", () => {
  deepEqual(read("jwt: []\nanonymous: {enabled: false}").anonymous, { enabled: false });
  deepEqual(read("anonymous: {enabled: true, conditions: [{path: /livez}, {path: /readyz}]}").anonymous, {
    enabled: true,
    paths: ["/livez", "/readyz"],
  });
  for (const version of ["v1beta1", "v1alpha1"]) deepEqual(read("jwt: []", HEAD.replace("/v1\n", `/${version}\n`)), { issuers: [] });
});

const GOOD = "issuer: {url: https://a, audiences: [x]}";
const NAMED = 'claimMappings: {username: {claim: sub, prefix: ""}}';
const issuer = (...lines: readonly string[]) => `jwt:\n- ${lines.join("\n  ")}\n`;
const withIssuer = (text: string) => issuer(`issuer: {${text}}`, NAMED);
const mapped = (...mappings: readonly string[]) => issuer(GOOD, `claimMappings: {${mappings.join(", ")}}`);
const SUB = 'username: {claim: sub, prefix: ""}';
const UNDECLARED = "compilation failed: ERROR: <input>:1:1: undeclared reference to 'x' (in container '')\n | x\n | ^";
const EMAIL_UNVERIFIED =
  "claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or " +
  "claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression";

test("a configuration maps claims by expressions", () => {
  const { issuers } = read(
    mapped(
      "username: {expression: 'claims.email_verified ? claims.email : claims.sub'}",
      "groups: {expression: \"claims.roles.split(',')\"}",
      "uid: {expression: claims.oid}",
      "extra: [{key: example.com/team, valueExpression: claims.team}]",
    ),
  );

  deepEqual(issuers[0]?.mappings, {
    username: "claims.email_verified ? claims.email : claims.sub",
    groups: "claims.roles.split(',')",
    uid: "claims.oid",
    extra: [{ key: "example.com/team", expression: "claims.team" }],
  });
  equal(issuers[0]?.usernameClaim, "");
});

const emailIsVerified: readonly [where: string, text: string][] = [
  ["the expression of the username", mapped("username: {expression: 'has(claims.email_verified) ? claims.email : \"\"'}")],
  [
    "the expression of the username, optionally",
    mapped("username: {expression: 'claims.?email_verified.orValue(true) ? claims.email : \"\"'}"),
  ],
  [
    "an expression of extra",
    mapped("username: {expression: claims.email}", "extra: [{key: a.b/c, valueExpression: string(claims.email_verified)}]"),
  ],
  [
    "a rule for claims",
    issuer(
      GOOD,
      "claimMappings: {username: {expression: claims.email}}",
      "claimValidationRules: [{expression: claims.email_verified == true}]",
    ),
  ],
];

for (const [where, text] of emailIsVerified) {
  test(`an email address may be the username if ${where} reads email_verified`, () => equal(read(text).issuers.length, 1));
}

const wrong: readonly [text: string, sentence: string][] = [
  [
    mapped("username: {expression: '[claims.email][0]'}"),
    `jwt[0].claimMappings.username.expression: Invalid value: "[claims.email][0]": ${EMAIL_UNVERIFIED}`,
  ],
  [mapped("username: {expression: x}"), `jwt[0].claimMappings.username.expression: Invalid value: "x": ${UNDECLARED}`],
  [
    mapped("username: {expression: claims.sub, claim: sub}"),
    'jwt[0].claimMappings.username: Invalid value: "": claim and expression can\'t both be set',
  ],
  [
    mapped("username: {expression: claims.sub, prefix: 'a:'}"),
    'jwt[0].claimMappings.username.prefix: Invalid value: "a:": may not be specified when expression is set',
  ],
  [mapped(SUB, "groups: {expression: x}"), `jwt[0].claimMappings.groups.expression: Invalid value: "x": ${UNDECLARED}`],
  [mapped(SUB, "uid: {expression: x}"), `jwt[0].claimMappings.uid.expression: Invalid value: "x": ${UNDECLARED}`],
  [
    mapped(SUB, "uid: {expression: claims.a, claim: a}"),
    'jwt[0].claimMappings.uid: Invalid value: "": claim and expression can\'t both be set',
  ],
  [
    mapped(SUB, "extra: [{key: a.b/c, valueExpression: x}]"),
    `jwt[0].claimMappings.extra[0].valueExpression: Invalid value: "x": ${UNDECLARED}`,
  ],
  [mapped(SUB, "extra: [{key: a.b/c}]"), "jwt[0].claimMappings.extra[0].valueExpression: Required value"],
  [
    mapped(SUB, "extra: [{key: a.b/c, valueExpression: claims.a}, {key: a.b/c, valueExpression: claims.a}]"),
    'jwt[0].claimMappings.extra[1].key: Duplicate value: "a.b/c"',
  ],
  [
    mapped(SUB, "extra: [{key: team, valueExpression: claims.a}]"),
    'jwt[0].claimMappings.extra[0].key: Invalid value: "team": must be a domain-prefixed path (such as "acme.io/foo")',
  ],
  [
    mapped(SUB, "extra: [{key: a.b/C, valueExpression: claims.a}]"),
    'jwt[0].claimMappings.extra[0].key: Invalid value: "a.b/C": must be lowercase',
  ],
  [
    mapped(SUB, "extra: [{key: a.k8s.io/c, valueExpression: claims.a}]"),
    'jwt[0].claimMappings.extra[0].key: Invalid value: "a.k8s.io/c": k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use',
  ],
  [issuer(GOOD, NAMED, "userValidationRules: [{}]"), "jwt[0].userValidationRules[0].expression: Required value"],
  [
    issuer(GOOD, NAMED, "userValidationRules: [{expression: 'true'}, {expression: 'true'}]"),
    'jwt[0].userValidationRules[1].expression: Duplicate value: "true"',
  ],
  [
    issuer(GOOD, NAMED, "userValidationRules: [{expression: user.name}]"),
    "jwt[0].userValidationRules[0].expression: Invalid value: \"user.name\": compilation failed: ERROR: <input>:1:5: undefined field 'name'\n | user.name\n | ....^",
  ],
  [
    issuer(GOOD, NAMED, "claimValidationRules: [{expression: claims.admin}]"),
    'jwt[0].claimValidationRules[0].expression: Invalid value: "claims.admin": must evaluate to bool',
  ],
  [
    issuer(GOOD, NAMED, "claimValidationRules: [{expression: user.uid == ''}]"),
    "jwt[0].claimValidationRules[0].expression: Invalid value: \"user.uid == ''\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'user' (in container '')\n | user.uid == ''\n | ^",
  ],
  [
    issuer(GOOD, NAMED, "claimValidationRules: [{expression: 'true', requiredValue: a}]"),
    'jwt[0].claimValidationRules[0].requiredValue: Invalid value: "a": may not be specified when expression is set',
  ],
  [
    issuer(GOOD, NAMED, "claimValidationRules: [{expression: 'true', claim: a}]"),
    'jwt[0].claimValidationRules[0]: Invalid value: "a": claim and expression can\'t both be set',
  ],
  [issuer(GOOD, NAMED, "claimValidationRules: [{}]"), "jwt[0].claimValidationRules[0]: Required value: claim or expression is required"],
  [issuer(GOOD, NAMED, "claimValidationRules: [{claim: a}, {claim: a}]"), 'jwt[0].claimValidationRules[1].claim: Duplicate value: "a"'],
  [issuer(GOOD, "claimMappings: {}"), "jwt[0].claimMappings.username: Required value: claim or expression is required"],
  [
    issuer(GOOD, "claimMappings: {username: {claim: sub}}"),
    "jwt[0].claimMappings.username.prefix: Required value: prefix is required when claim is set. It can be set to an empty string to disable prefixing",
  ],
  [withIssuer("audiences: [x]"), "jwt[0].issuer.url: Required value"],
  [withIssuer("url: http://a, audiences: [x]"), 'jwt[0].issuer.url: Invalid value: "http://a": URL scheme must be https'],
  [
    withIssuer("url: 'https://u:p@a', audiences: [x]"),
    'jwt[0].issuer.url: Invalid value: "https://…@a": URL must not contain a username or password',
  ],
  [withIssuer("url: 'https://a?b=c', audiences: [x]"), 'jwt[0].issuer.url: Invalid value: "https://a?b=c": URL must not contain a query'],
  [withIssuer("url: 'https://a#b', audiences: [x]"), 'jwt[0].issuer.url: Invalid value: "https://a#b": URL must not contain a fragment'],
  [
    withIssuer("url: https://accounts, audiences: [x]"),
    'jwt[0].issuer.url: Invalid value: "https://accounts": URL must not overlap with disallowed issuers: [https://accounts]',
  ],
  [
    withIssuer("url: https://a, discoveryURL: https://a/, audiences: [x]"),
    'jwt[0].issuer.discoveryURL: Invalid value: "https://a/": discoveryURL must be different from URL',
  ],
  [
    withIssuer("url: https://a, audiences: [yes]"),
    "jwt[0].issuer.audiences[0] must be a string; jwt[0].issuer.audiences[0]: Required value",
  ],
  [withIssuer("url: https://a"), "jwt[0].issuer.audiences: Required value: at least one jwt[0].issuer.audiences is required"],
  [withIssuer("url: https://a, audiences: [x, x], audienceMatchPolicy: MatchAny"), 'jwt[0].issuer.audiences[1]: Duplicate value: "x"'],
  [
    withIssuer("url: https://a, audiences: [x, z]"),
    'jwt[0].issuer.audienceMatchPolicy: Invalid value: "": audienceMatchPolicy must be MatchAny for multiple audiences',
  ],
  [
    withIssuer("url: https://a, audiences: [x], certificateAuthority: nonsense"),
    'jwt[0].issuer.certificateAuthority: Invalid value: "<omitted>": data does not contain any valid RSA or ECDSA certificates',
  ],
  [withIssuer("url: https://a, audiences: [x], colour: red"), "Unknown field jwt[0].issuer.colour"],
  [withIssuer("url: 7, audiences: [x]"), "jwt[0].issuer.url must be a string; jwt[0].issuer.url: Required value"],
  [`${issuer(GOOD, NAMED)}- ${GOOD}\n  ${NAMED}\n`, 'jwt[1].issuer.url: Duplicate value: "https://a"'],
  [
    "anonymous: {enabled: false, conditions: [{path: /x}]}",
    'anonymous.conditions: Invalid value: [{"path":"/x"}]: enabled should be set to true when conditions are defined',
  ],
  ["anonymous: yes please", "anonymous must be an object"],
  ["jwt: {}", "jwt must be a list"],
];

for (const [text, sentence] of wrong) {
  test(`a configuration is rejected with: ${sentence}`, () => throws(() => read(text), { message: sentence }));
}

test("all problems of a configuration are reported at once", () => {
  throws(
    () => read("jwt: [{}, 7]"),
    (error: Error) => error.message.includes("jwt[0].issuer") && error.message.includes("jwt[1] must be an object"),
  );
});

test("a document of another kind is rejected", () => {
  throws(() => read("", "kind: Pod\n"), /Must be an AuthenticationConfiguration of apiserver.config.k8s.io\/v1, is a "Pod"/);
  throws(() => read("", ""), /must be an object/);
  throws(() => read("a: [", ""), /Not valid YAML or JSON/);
  throws(() => read("jwt: []\njwt: []\n"), /already set in map/);
});
