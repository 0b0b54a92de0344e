import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../machinery/object.ts";
import { newObject, problems as problemsOf, problemsOfNew, type Sent } from "../../../testing/kind.ts";
import { customResourceDefinitions } from "../custom-resource-definition.ts";
import { aDefinition, aVersion, withSchema, withVersion } from "../testing/definition.ts";
import { validateDefinition } from "./validate.ts";

const COLORED: JsonObject = {
  type: "object",
  properties: {
    metadata: { type: "object", properties: { name: { type: "string" } } },
    spec: {
      type: "object",
      properties: { c: { type: "string" }, n: { type: "number" }, o: { type: "object", additionalProperties: { type: "string" } } },
    },
  },
};

function webhook(clientConfig: JsonObject, conversionReviewVersions: readonly string[] = ["v1"]): Sent {
  return aDefinition({ conversion: { strategy: "Webhook", webhook: { clientConfig, conversionReviewVersions } } });
}

function protectedGroup(group: string, approval?: string): Sent {
  const annotations = approval === undefined ? {} : { annotations: { "api-approved.kubernetes.io": approval } };
  return aDefinition({ group }, { name: `crontabs.${group}`, ...annotations });
}

const refused: readonly (readonly [it: string, sent: Sent, problems: readonly string[]])[] = [
  [
    "its name is not made of its names",
    aDefinition({}, { name: "other.example.com" }),
    ['metadata.name: Invalid value: "other.example.com": must be spec.names.plural+"."+spec.group'],
  ],
  [
    "its name is to be generated",
    aDefinition({}, { generateName: "cron" }),
    ['metadata.generateName: Invalid value: "cron": must be spec.names.plural+"."+spec.group'],
  ],
  [
    "nothing but a name is given",
    { metadata: { name: "a.b" } },
    [
      'metadata.name: Invalid value: "a.b": must be spec.names.plural+"."+spec.group',
      "spec.group: Required value",
      "spec.scope: Required value",
      "spec.versions: Invalid value: null: must have exactly one version marked as storage version",
      "spec.names.plural: Required value",
      "spec.names.singular: Required value",
      "spec.names.kind: Required value",
      "spec.names.listKind: Required value",
      "status.storedVersions: Invalid value: null: must have at least one stored version",
    ],
  ],
  [
    "its group is empty",
    aDefinition({ group: "" }),
    ['metadata.name: Invalid value: "crontabs.example.com": must be spec.names.plural+"."+spec.group', "spec.group: Required value"],
  ],
  [
    "its group is no domain",
    aDefinition({ group: "Bad_Group" }),
    [
      'metadata.name: Invalid value: "crontabs.example.com": must be spec.names.plural+"."+spec.group',
      "spec.group: Invalid value: \"Bad_Group\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  [
    "its group has no dot",
    aDefinition({ group: "nodots" }),
    [
      'metadata.name: Invalid value: "crontabs.example.com": must be spec.names.plural+"."+spec.group',
      'spec.group: Invalid value: "nodots": should be a domain with at least one dot',
    ],
  ],
  ["it has no scope", aDefinition({ scope: "" }), ["spec.scope: Required value"]],
  [
    "its scope is none",
    aDefinition({ scope: "Both" }),
    ['spec.scope: Unsupported value: "Both": supported values: "Cluster", "Namespaced"'],
  ],
  [
    "its names are no labels",
    aDefinition({ names: { plural: "X_", singular: "S-", kind: "k_", listKind: "l_", shortNames: ["A", "ok", ""], categories: ["All"] } }),
    [
      'metadata.name: Invalid value: "crontabs.example.com": must be spec.names.plural+"."+spec.group',
      "spec.names.plural: Invalid value: \"X_\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
      "spec.names.singular: Invalid value: \"S-\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
      "spec.names.kind: Invalid value: \"k_\": may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
      "spec.names.listKind: Invalid value: \"l_\": may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
      "spec.names.shortNames[0]: Invalid value: \"A\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
      "spec.names.shortNames[2]: Invalid value: \"\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
      "spec.names.categories[0]: Invalid value: \"All\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
    ],
  ],
  [
    "a list is called as its items are",
    aDefinition({ names: { plural: "crontabs", kind: "CronTab", listKind: "CronTab" } }),
    ['spec.names.listKind: Invalid value: "CronTab": kind and listKind may not be the same'],
  ],
  [
    "it has no versions",
    aDefinition({ versions: [] }),
    [
      "spec.versions: Invalid value: []: must have exactly one version marked as storage version",
      "status.storedVersions: Invalid value: null: must have at least one stored version",
    ],
  ],
  [
    "no version is stored",
    withVersion({ storage: false }),
    [
      'spec.versions: Invalid value: [{"Name":"v1","Served":true,"Storage":false,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}]: must have exactly one version marked as storage version',
      "status.storedVersions: Invalid value: null: must have at least one stored version",
    ],
  ],
  [
    "it has the stored version twice",
    aDefinition({ versions: [aVersion(), aVersion()] }),
    [
      'spec.versions: Invalid value: [{"Name":"v1","Served":true,"Storage":true,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null},{"Name":"v1","Served":true,"Storage":true,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}]: must contain unique version names',
      'spec.versions: Invalid value: [{"Name":"v1","Served":true,"Storage":true,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null},{"Name":"v1","Served":true,"Storage":true,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}]: must have exactly one version marked as storage version',
      'status.storedVersions: Invalid value: ["v1"]: must have the storage version v1',
    ],
  ],
  [
    "two versions are stored",
    aDefinition({ versions: [aVersion(), aVersion({ name: "v2" })] }),
    [
      'spec.versions: Invalid value: [{"Name":"v1","Served":true,"Storage":true,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null},{"Name":"v2","Served":true,"Storage":true,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}]: must have exactly one version marked as storage version',
      'status.storedVersions: Invalid value: ["v1"]: must have the storage version v2',
    ],
  ],
  [
    "two versions have the same name",
    aDefinition({ versions: [aVersion(), aVersion({ storage: false })] }),
    [
      'spec.versions: Invalid value: [{"Name":"v1","Served":true,"Storage":true,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null},{"Name":"v1","Served":true,"Storage":false,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}]: must contain unique version names',
    ],
  ],
  [
    "names of versions are no labels, of which the first is reported once more",
    aDefinition({ versions: [aVersion({ name: "1x" }), aVersion({ name: "", storage: false })] }),
    [
      "spec.versions[0].name: Invalid value: \"1x\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
      "spec.versions[1].name: Invalid value: \"\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
      "spec.version: Invalid value: \"1x\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
    ],
  ],
  ["its only version has no schema", withVersion({ schema: {} }), ["spec.versions[0].schema.openAPIV3Schema: Required value"]],
  [
    "one of its versions has no schema",
    aDefinition({ versions: [aVersion(), { name: "v2", served: true, storage: false }] }),
    ["spec.versions[1].schema.openAPIV3Schema: Required value"],
  ],
  [
    "unknown fields shall be preserved everywhere",
    aDefinition({ preserveUnknownFields: true }),
    [
      "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
    ],
  ],
  [
    "unknown fields shall be preserved and there are defaults and a webhook",
    aDefinition({
      preserveUnknownFields: true,
      conversion: { strategy: "Webhook" },
      versions: [aVersion({ schema: { openAPIV3Schema: { type: "object", properties: { a: { type: "string", default: "x" } } } } })],
    }),
    [
      "spec.preserveUnknownFields: Invalid value: true: must be false in order to use defaults in the schema",
      'spec.conversion.strategy: Invalid value: "Webhook": must be None if spec.preserveUnknownFields is true',
      "spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook",
      "spec.conversion.conversionReviewVersions: Required value",
      "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
    ],
  ],
  [
    "a version that is not deprecated has a warning",
    withVersion({ deprecationWarning: "x" }),
    ['spec.versions[0].deprecationWarning: Invalid value: "x": can only be set for deprecated versions'],
  ],
  [
    "a warning is empty",
    withVersion({ deprecated: true, deprecationWarning: "" }),
    ['spec.versions[0].deprecationWarning: Invalid value: "": must not be an empty string'],
  ],
  [
    "a warning is longer than 256 bytes",
    withVersion({ deprecated: true, deprecationWarning: "é".repeat(129) }),
    [
      'spec.versions[0].deprecationWarning: Invalid value: "ééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé": must be <= 256 characters long',
    ],
  ],
  [
    "a warning has characters that cannot be seen",
    withVersion({ deprecated: true, deprecationWarning: "é\n" }),
    [
      'spec.versions[0].deprecationWarning: Invalid value: "é\\n": must only contain printable UTF-8 characters; non-printable character found at index 2',
    ],
  ],
  [
    "columns have no name, type and path",
    withVersion({ additionalPrinterColumns: [{ name: "", type: "", jsonPath: "" }] }),
    [
      "spec.additionalPrinterColumns[0].name: Required value",
      "spec.additionalPrinterColumns[0].type: Required value: must be one of boolean,date,integer,number,string",
      "spec.additionalPrinterColumns[0].JSONPath: Required value",
    ],
  ],
  [
    "columns have types, formats and paths that are none",
    withVersion({ additionalPrinterColumns: [{ name: "a", type: "text", format: "int", jsonPath: "a" }] }),
    [
      'spec.additionalPrinterColumns[0].type: Invalid value: "text": must be one of boolean,date,integer,number,string',
      'spec.additionalPrinterColumns[0].format: Invalid value: "int": must be one of byte,date,date-time,double,float,int32,int64,password',
      'spec.additionalPrinterColumns[0].JSONPath: Invalid value: "a": must be a simple json path starting with .',
    ],
  ],
  [
    "versions have different columns, of which one is wrong",
    aDefinition({
      versions: [
        aVersion({ additionalPrinterColumns: [{ name: "", type: "string", jsonPath: ".a" }] }),
        aVersion({ name: "v2", storage: false }),
      ],
    }),
    ["spec.versions[0].additionalPrinterColumns[0].name: Required value"],
  ],
  [
    "paths of replicas are missing",
    withVersion({ subresources: { scale: {} } }),
    ["spec.subresources.scale.specReplicasPath: Required value", "spec.subresources.scale.statusReplicasPath: Required value"],
  ],
  [
    "paths of replicas are no paths",
    withVersion({ subresources: { scale: { specReplicasPath: "spec", statusReplicasPath: "x", labelSelectorPath: "y" } } }),
    [
      'spec.subresources.scale.specReplicasPath: Invalid value: "spec": must be a simple json path starting with .',
      'spec.subresources.scale.statusReplicasPath: Invalid value: "x": must be a simple json path starting with .',
      'spec.subresources.scale.labelSelectorPath: Invalid value: "y": must be a simple json path starting with .',
    ],
  ],
  [
    "paths of replicas lead elsewhere",
    withVersion({ subresources: { scale: { specReplicasPath: ".foo", statusReplicasPath: ".spec.x", labelSelectorPath: ".x" } } }),
    [
      'spec.subresources.scale.specReplicasPath: Invalid value: ".foo": should be a json path under .spec',
      'spec.subresources.scale.statusReplicasPath: Invalid value: ".spec.x": should be a json path under .status',
      'spec.subresources.scale.labelSelectorPath: Invalid value: ".x": should be a json path under either .spec or .status',
    ],
  ],
  [
    "versions have different subresources, of which one is wrong",
    aDefinition({
      versions: [
        aVersion({ subresources: { scale: { specReplicasPath: ".spec.r", statusReplicasPath: "" } } }),
        aVersion({ name: "v2", storage: false }),
      ],
    }),
    ["spec.versions[0].subresources.scale.statusReplicasPath: Required value"],
  ],
  [
    "fields for selectors lead nowhere, into metadata, to what is no scalar, or are there twice",
    withSchema(COLORED, {
      selectableFields: ["", "spec.c", ".spec.zz", ".spec.n", ".metadata.name", ".spec.o['x']", ".spec.c", ".spec.c", ".spec."].map(
        (jsonPath) => ({ jsonPath }),
      ),
    }),
    [
      "spec.selectableFields[0].jsonPath: Required value",
      'spec.selectableFields[1].jsonPath: Invalid value: "spec.c": is an invalid path: expected [ or . but got: spec',
      'spec.selectableFields[2].jsonPath: Invalid value: ".spec.zz": is an invalid path: does not refer to a valid field',
      'spec.selectableFields[3].jsonPath: Invalid value: ".spec.n": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
      'spec.selectableFields[4].jsonPath: Invalid value: ".metadata.name": must not point to fields in metadata',
      "spec.selectableFields[5].jsonPath: Invalid value: \".spec.o['x']\": is an invalid path: array notation is not allowed",
      'spec.selectableFields[7].jsonPath: Duplicate value: ".spec.c"',
      'spec.selectableFields[8].jsonPath: Invalid value: ".spec.": is an invalid path: unexpected end of JSON path',
    ],
  ],
  [
    "there are nine fields for selectors",
    withSchema(COLORED, { selectableFields: Array.from({ length: 9 }, (_, index) => ({ jsonPath: `.spec.o.k${index}` })) }),
    ["spec.selectableFields: Too many: 9: must have at most 8 items"],
  ],
  [
    "there are nine fields for selectors in one version of two",
    aDefinition({
      versions: [
        aVersion({
          schema: { openAPIV3Schema: COLORED },
          selectableFields: Array.from({ length: 9 }, (_, index) => ({ jsonPath: `.spec.o.k${index}` })),
        }),
        aVersion({ name: "v2", storage: false }),
      ],
    }),
    ["spec.versions[0].selectableFields: Too many: 9: must have at most 8 items"],
  ],
  [
    "there are fields for selectors and no schema",
    withVersion({ schema: undefined, selectableFields: [{ jsonPath: ".a" }] }),
    [
      "spec.versions[0].schema.openAPIV3Schema: Required value",
      'spec.selectableFields: Invalid value: "": may only be set when validations.schema is included',
    ],
  ],
  [
    "one version has fields for selectors and no schema",
    aDefinition({ versions: [aVersion(), { name: "v2", served: true, storage: false, selectableFields: [{ jsonPath: ".a" }] }] }),
    [
      "spec.versions[1].schema.openAPIV3Schema: Required value",
      'spec.versions[1].selectableFields: Invalid value: "": may only be set when `version.schema.openAPIV3Schema` is not included',
    ],
  ],
  [
    "one version has fields for selectors and a schema without structure",
    aDefinition({
      versions: [
        aVersion(),
        aVersion({
          name: "v2",
          storage: false,
          schema: { openAPIV3Schema: { type: "object", $schema: "x" } },
          selectableFields: [{ jsonPath: ".a" }],
        }),
      ],
    }),
    [
      "spec.versions[1].schema.openAPIV3Schema: Invalid value: \"\": OpenAPIV3Schema 'schema' is not supported",
      "spec.versions[1].schema.openAPIV3Schema: Invalid value: \"\": OpenAPIV3Schema 'schema' is not supported",
    ],
  ],
  [
    "there are fields for selectors and a schema without structure",
    withSchema({ type: "object", $schema: "x" }, { selectableFields: [{ jsonPath: ".a" }] }),
    [
      "spec.validation.openAPIV3Schema: Invalid value: \"\": OpenAPIV3Schema 'schema' is not supported",
      "spec.schema.openAPIV3Schema: Invalid value: \"\": OpenAPIV3Schema 'schema' is not supported",
    ],
  ],
  ["its conversion has no strategy", aDefinition({ conversion: { strategy: "" } }), ["spec.conversion.strategy: Required value"]],
  [
    "its conversion has a strategy that is none",
    aDefinition({ conversion: { strategy: "X" } }),
    ['spec.conversion.strategy: Unsupported value: "X": supported values: "None", "Webhook"'],
  ],
  [
    "there is a webhook that is not called",
    aDefinition({ conversion: { strategy: "None", webhook: { clientConfig: { url: "https://x" }, conversionReviewVersions: ["v1"] } } }),
    [
      "spec.conversion.webhookClientConfig: Forbidden: should not be set when strategy is not set to Webhook",
      "spec.conversion.conversionReviewVersions: Forbidden: should not be set when strategy is not set to Webhook",
    ],
  ],
  [
    "there is no webhook to be called",
    aDefinition({ conversion: { strategy: "Webhook" } }),
    [
      "spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook",
      "spec.conversion.conversionReviewVersions: Required value",
    ],
  ],
  [
    "a webhook has a URL and a Service, and only unknown review versions",
    webhook({ url: "https://x", service: { name: "a", namespace: "b" } }, ["v2", "v2", "V3"]),
    [
      "spec.conversion.webhookClientConfig: Required value: exactly one of url or service is required",
      'spec.conversion.conversionReviewVersions[1]: Invalid value: "v2": duplicate version',
      "spec.conversion.conversionReviewVersions[2]: Invalid value: \"V3\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
      'spec.conversion.conversionReviewVersions: Invalid value: ["v2","v2","V3"]: must include at least one of v1, v1beta1',
    ],
  ],
  [
    "a webhook has neither a URL nor a Service",
    webhook({}),
    ["spec.conversion.webhookClientConfig: Required value: exactly one of url or service is required"],
  ],
  [
    "a webhook has a URL that is not allowed",
    webhook({ url: "http://u:p@/?x#f" }),
    [
      "spec.conversion.webhookClientConfig.url: Invalid value: \"http\": 'https' is the only allowed URL scheme; desired format: https://host[/path]",
      'spec.conversion.webhookClientConfig.url: Invalid value: "": host must be specified; desired format: https://host[/path]',
      'spec.conversion.webhookClientConfig.url: Invalid value: "u:p": user information is not permitted in the URL',
      'spec.conversion.webhookClientConfig.url: Invalid value: "f": fragments are not permitted in the URL',
      'spec.conversion.webhookClientConfig.url: Invalid value: "x": query parameters are not permitted in the URL',
    ],
  ],
  [
    "a webhook has a URL that is none",
    webhook({ url: "https://a b" }),
    [
      'spec.conversion.webhookClientConfig.url: Required value: url must be a valid URL: parse "https://a b": invalid character " " in host name; desired format: https://host[/path]',
    ],
  ],
  [
    "a webhook's Service has no name, which is reported as its namespace",
    webhook({ service: { namespace: "b", port: 0, path: "x//y" } }),
    [
      "spec.conversion.webhookClientConfig.service.namespace: Required value",
      "spec.conversion.webhookClientConfig.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive",
      "spec.conversion.webhookClientConfig.service.path: Invalid value: \"x//y\": must start with a '/'",
      'spec.conversion.webhookClientConfig.service.path: Invalid value: "x//y": segment[0] may not be empty',
      'spec.conversion.webhookClientConfig.service.path: Invalid value: "x//y": segment[1] may not be empty',
    ],
  ],
  [
    "a webhook's Service has no namespace, which is reported as its name",
    webhook({ service: { name: "b", path: "/A" } }),
    [
      "spec.conversion.webhookClientConfig.service.name: Required value",
      "spec.conversion.webhookClientConfig.service.path: Invalid value: \"/A\": segment[0]: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  [
    "its group is protected and it has no approval",
    protectedGroup("k8s.io"),
    [
      'metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
    ],
  ],
  [
    "its group is within a protected one and its approval is none",
    protectedGroup("x.kubernetes.io", "nope"),
    [
      'metadata.annotations[api-approved.kubernetes.io]: Invalid value: "nope": protected groups must have approval annotation "api-approved.kubernetes.io" with either a URL or a reason starting with "unapproved", see https://github.com/kubernetes/enhancements/pull/1111',
    ],
  ],
];
for (const [it, sent, problems] of refused) {
  test(`a definition is rejected if ${it}`, () => {
    assert.deepEqual(problemsOfNew(customResourceDefinitions, sent), problems);
  });
}

test("a missing name of a definition is reported once", () => {
  const definition = newObject(customResourceDefinitions, aDefinition());
  const nameless = { ...definition, metadata: { ...definition.metadata, name: "" } };

  assert.deepEqual(problemsOf(validateDefinition(nameless)), []);
});

const accepted: readonly (readonly [it: string, sent: Sent])[] = [
  ["says only what it must", aDefinition()],
  ["has several versions, one of which is stored", aDefinition({ versions: [aVersion(), aVersion({ name: "v2", storage: false })] })],
  ["has selectable fields", withSchema(COLORED, { selectableFields: [{ jsonPath: ".spec.c" }, { jsonPath: ".spec.o.x" }] })],
  [
    "has columns and subresources",
    withVersion({
      subresources: { status: {}, scale: { specReplicasPath: ".spec.r", statusReplicasPath: ".status.r", labelSelectorPath: ".status.s" } },
      additionalPrinterColumns: [{ name: "b", type: "date", format: "date-time", jsonPath: ".x", priority: 1 }],
    }),
  ],
  [
    "is converted by a webhook, with a bundle that is looked at later",
    webhook({ service: { name: "b", namespace: "c" }, caBundle: "aGk=" }),
  ],
  ["knows one review of several", webhook({ url: "https://x/y" }, ["v1beta1", "foo"])],
  ["is deprecated, with a warning", withVersion({ deprecated: true, deprecationWarning: "Use v2 now" })],
  ["was approved", protectedGroup("k8s.io", "https://github.com/kubernetes/kubernetes/pull/1")],
  ["says that it was not approved", protectedGroup("x.k8s.io", "unapproved, an experiment")],
  ["is of a group that only looks protected", aDefinition({ group: "ak8s.io" }, { name: "crontabs.ak8s.io" })],
];
for (const [it, sent] of accepted) {
  test(`a definition is accepted that ${it}`, () => {
    assert.deepEqual(problemsOfNew(customResourceDefinitions, sent), []);
  });
}
