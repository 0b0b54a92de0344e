import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { describeFieldError, type FieldError } from "./field-error.ts";
import {
  byteLength,
  isLongerThan,
  maskTrailingDash,
  maxLengthMessage,
  regexMessage,
  validateCIdentifier,
  validateConditionReason,
  validateConfigMapKey,
  validateDns1035Label,
  validateDnsLabel,
  validateDnsSubdomain,
  validateDnsSubdomainWithUnderscore,
  validateDomainPrefixedKey,
  validateDomainPrefixedPath,
  validateEnvVarName,
  validateFullyQualifiedDomainName,
  validateFullyQualifiedName,
  validateGroupId,
  validateHttpHeaderName,
  validateLabelValue,
  validatePathSegmentName,
  validatePercent,
  validatePortName,
  validatePortNumber,
  validateQualifiedName,
  validateRelaxedEnvVarName,
  validateUserId,
  validateWildcardDnsSubdomain,
  type NameValidator,
} from "./names.ts";

const LABEL =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const NAME_PART =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const ENV_VAR =
  "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit (e.g. 'my.env-name',  or 'MY_ENV.NAME',  or 'MyEnvName1', regex used for validation is '[-._a-zA-Z][-._a-zA-Z0-9]*')";
const RELAXED = "a valid environment variable name must consist only of printable ASCII characters other than '='";
const CONFIG_KEY =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

/** Expected messages of upstream per text; an empty list means valid. */
const ROWS: readonly (readonly [NameValidator, string, readonly string[]])[] = [
  [validateDnsLabel, "my-name", []],
  [validateDnsLabel, "a".repeat(63), []],
  [validateDnsLabel, "a".repeat(64), ["must be no more than 63 characters"]],
  [validateDnsLabel, "my.name", ["must not contain dots"]],
  [validateDnsLabel, "My", [LABEL]],
  [validateDnsLabel, "", [LABEL]],
  [validateDnsLabel, "a\n", [LABEL]],
  [validateDnsSubdomain, "a-1.b", []],
  [validateDnsSubdomain, "a..b", [SUBDOMAIN]],
  [validateDnsSubdomain, `${"a".repeat(253)}-`, ["must be no more than 253 characters", SUBDOMAIN]],
  [validateDnsSubdomainWithUnderscore, "_tcp.example.com", []],
  [
    validateDnsSubdomainWithUnderscore,
    "tcp_.example.com",
    [
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  [validateDns1035Label, "web-1", []],
  [
    validateDns1035Label,
    "1-web",
    [
      "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
    ],
  ],
  [validateWildcardDnsSubdomain, "*.example.com", []],
  [
    validateWildcardDnsSubdomain,
    "example.com",
    [
      "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  [validateQualifiedName, "example.com/My_Name", []],
  [validateQualifiedName, "", ["name part must be non-empty", NAME_PART]],
  [validateQualifiedName, "/a", ["prefix part must be non-empty"]],
  [validateQualifiedName, "Example.com/a", [`prefix part ${SUBDOMAIN}`]],
  [validateQualifiedName, "a".repeat(64), ["name part must be no more than 63 bytes"]],
  [
    validateQualifiedName,
    "a/b/c",
    [`${NAME_PART.replace("name part", "a valid label key")} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`],
  ],
  [validateLabelValue, "", []],
  [validateLabelValue, "a".repeat(64), ["must be no more than 63 bytes"]],
  [
    validateLabelValue,
    "-a",
    [
      "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
    ],
  ],
  [validatePortName, "http-2", []],
  [validatePortName, "80", ["must contain at least one letter (a-z)"]],
  [
    validatePortName,
    "-A--0123456789012",
    [
      "must be no more than 15 characters",
      "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
      "must contain at least one letter (a-z)",
      "must not contain consecutive hyphens",
      "must not begin or end with a hyphen",
    ],
  ],
  [validateEnvVarName, "MY_ENV.x-1", []],
  [validateEnvVarName, "1A", [ENV_VAR]],
  [validateEnvVarName, "..", ["must not be '..'"]],
  [validateEnvVarName, "..a", ["must not start with '..'"]],
  [validateRelaxedEnvVarName, "1 A!", []],
  [validateRelaxedEnvVarName, "A=B", [RELAXED]],
  [validateRelaxedEnvVarName, "é", [RELAXED]],
  [validateRelaxedEnvVarName, "a\n", [RELAXED]],
  [validateRelaxedEnvVarName, "", ["environment variable name must be non-empty"]],
  [validateConfigMapKey, "key.name", []],
  [validateConfigMapKey, ".", ["must not be '.'"]],
  [validateConfigMapKey, "a/b", [CONFIG_KEY]],
  [validateConfigMapKey, "a".repeat(254), ["must be no more than 253 characters"]],
  [validatePathSegmentName, "system:node", []],
  [validatePathSegmentName, "..", ["may not be '..'"]],
  [validatePathSegmentName, "a/b%c", ["may not contain '/'", "may not contain '%'"]],
  [validateHttpHeaderName, "X-Header", []],
  [
    validateHttpHeaderName,
    "X Header",
    [
      "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')",
    ],
  ],
  [validatePercent, "25%", []],
  [
    validatePercent,
    "25",
    [
      "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
    ],
  ],
  [validateCIdentifier, "_a1", []],
  [
    validateCIdentifier,
    "1a",
    [
      "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')",
    ],
  ],
  [validateConditionReason, "ReasonA,ReasonB", []],
];

test("names are validated with upstream's messages", () => {
  for (const [validate, text, expected] of ROWS) deepEqual(validate(text), expected, JSON.stringify(text));
});

test("ports and user and group ids are limited to a range", () => {
  deepEqual(
    [0, 1, 65_535, 65_536].map((port) => validatePortNumber(port)),
    [["must be between 1 and 65535, inclusive"], [], [], ["must be between 1 and 65535, inclusive"]],
  );
  deepEqual(validateUserId(-1), ["must be between 0 and 2147483647, inclusive"]);
  deepEqual(validateGroupId(2n ** 40n), ["must be between 0 and 2147483647, inclusive"]);
  deepEqual(validateUserId(2 ** 31 - 1), []);
});

test("domain-prefixed paths and keys are validated as fields", () => {
  const rows: readonly (readonly [(text: string, at: string) => readonly FieldError[], string, readonly string[]])[] = [
    [validateFullyQualifiedName, "a.b.c", []],
    [validateFullyQualifiedName, "", ["x: Required value"]],
    [validateFullyQualifiedName, "a.b", ['x: Invalid value: "a.b": should be a domain with at least three segments separated by dots']],
    [validateFullyQualifiedName, "A.b.c", [`x: Invalid value: "A.b.c": ${SUBDOMAIN}`]],
    [validateFullyQualifiedDomainName, "a.b.", []],
    [validateFullyQualifiedDomainName, "a", ['x: Invalid value: "a": should be a domain with at least two segments separated by dots']],
    [
      validateFullyQualifiedDomainName,
      `${"a".repeat(64)}.b`,
      [`x: Invalid value: "${"a".repeat(64)}": must be no more than 63 characters`],
    ],
    [validateDomainPrefixedPath, "acme.io/foo/bar", []],
    [validateDomainPrefixedPath, "acme.io/", ['x: Invalid value: "acme.io/": must be a domain-prefixed path (such as "acme.io/foo")']],
    [
      validateDomainPrefixedPath,
      "acme.io/a b",
      [`x: Invalid value: "a b": ${regexMessage("Invalid path", "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+")}`],
    ],
    [validateDomainPrefixedKey, "acme.io/foo", []],
    [validateDomainPrefixedKey, "foo", ['x: Invalid value: "foo": must be a domain-prefixed key (such as "acme.io/foo")']],
  ];
  for (const [validate, text, expected] of rows) deepEqual(validate(text, "x").map(describeFieldError), expected, JSON.stringify(text));
});

test("a generateName prefix may end with a dash", () => {
  deepEqual(["web-", "-", "", "web", "ab-"].map(maskTrailingDash), ["wea", "-", "", "web", "aa"]);
});

test("lengths are counted in bytes", () => {
  equal(byteLength("aé😀"), 7);
  deepEqual([isLongerThan("éé", 4), isLongerThan("éé", 3), isLongerThan("aaaa", 3), isLongerThan("a", 3)], [false, true, true, false]);
  equal(maxLengthMessage(3), "must be no more than 3 characters");
});
