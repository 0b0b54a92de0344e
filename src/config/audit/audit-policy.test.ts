import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { readAuditPolicy } from "./audit-policy.ts";

function read(text: string) {
  return readAuditPolicy(new TextEncoder().encode(`apiVersion: audit.k8s.io/v1\nkind: Policy\n${text}`));
}

test("an audit policy is read with all of its fields", () => {
  const policy = read(`
omitStages: [RequestReceived]
omitManagedFields: true
rules:
- level: None
  users: [system:kube-proxy]
  userGroups: [system:nodes]
  verbs: [watch]
  resources: [{ group: apps, resources: [deployments, "*/scale"], resourceNames: [web] }]
  namespaces: [default, ""]
  omitStages: [Panic]
  omitManagedFields: false
- level: Metadata
  nonResourceURLs: ["/healthz*", "*"]
`);

  const nothing = { users: [], userGroups: [], verbs: [], resources: [], namespaces: [], nonResourceUrls: [], omitStages: [] };
  deepEqual(policy, {
    omitStages: ["RequestReceived"],
    omitManagedFields: true,
    rules: [
      {
        ...nothing,
        level: "None",
        users: ["system:kube-proxy"],
        userGroups: ["system:nodes"],
        verbs: ["watch"],
        resources: [{ group: "apps", resources: ["deployments", "*/scale"], resourceNames: ["web"] }],
        namespaces: ["default", ""],
        omitStages: ["Panic"],
        omitManagedFields: false,
      },
      { ...nothing, level: "Metadata", nonResourceUrls: ["/healthz*", "*"] },
    ],
  });
});

const PROBLEMS: readonly [it: string, text: string, problem: string][] = [
  ["no rules", "rules: []", "loaded illegal policy with 0 rules"],
  ["no level", "rules: [{ verbs: [get] }]", "rules[0].level: Required value"],
  [
    "an unknown level",
    "rules: [{ level: All }]",
    'rules[0].level: Unsupported value: "All": supported values: "None", "Metadata", "Request", "RequestResponse"',
  ],
  [
    "an unknown stage",
    "rules: [{ level: None }]\nomitStages: [Begin]",
    'omitStages[0]: Invalid value: "Begin": allowed stages are RequestReceived,ResponseStarted,ResponseComplete,Panic',
  ],
  [
    "a path without a slash",
    "rules: [{ level: None, nonResourceURLs: [healthz] }]",
    "rules[0].nonResourceURLs[0]: Invalid value: \"healthz\": non-resource URL rules must begin with a '/' character",
  ],
  [
    "a wildcard inside of a path",
    'rules: [{ level: None, nonResourceURLs: ["/a*b"] }]',
    "rules[0].nonResourceURLs[0]: Invalid value: \"/a*b\": non-resource URL wildcards '*' must be the final character of the rule",
  ],
  [
    "a group with a version",
    "rules: [{ level: None, resources: [{ group: apps/v1 }] }]",
    "rules[0].resources.group: Invalid value: \"apps/v1\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
  ],
  [
    "names without resources",
    "rules: [{ level: None, resources: [{ group: apps, resourceNames: [a] }] }]",
    'rules[0].resources.resourceNames: Invalid value: ["a"]: using resourceNames requires at least one resource',
  ],
  [
    "resources and paths",
    'rules: [{ level: None, namespaces: [a], nonResourceURLs: ["*"] }]',
    'rules[0].nonResourceURLs: Invalid value: ["*"]: rules cannot apply to both regular resources and non-resource URLs',
  ],
  ["an unknown field", "rules: [{ level: None, level2: None }]", "Unknown field rules[0].level2"],
];

for (const [it, text, problem] of PROBLEMS) {
  test(`an audit policy with ${it} is refused`, () => {
    throws(() => read(text), { message: problem });
  });
}

test("a file that is not an audit policy is refused", () => {
  let message = "";
  try {
    readAuditPolicy(new TextEncoder().encode("apiVersion: v1\nkind: Pod\nrules: []"));
  } catch (error) {
    ({ message } = error as Error);
  }

  equal(message, 'Must be a Policy of audit.k8s.io/v1, is a "Pod" of "v1"');
});
