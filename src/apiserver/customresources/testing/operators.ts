/**
 * Definitions in the style of large public operators, for tests and benchmarks: a certificate manager with conditions and immutable fields,
 * a monitoring operator with several hundred fields and Pod-like templates, a gateway with lists keyed by name and rules with quantifiers,
 * a service mesh with keyed lists inside of keyed lists, a GitOps operator with alternatives, a database operator with several hundred
 * settings and rules on changes.
 */
import type { JsonObject } from "../../../api/machinery/object.ts";

const TEXT: JsonObject = { type: "string", maxLength: 253 };

function objectOf(properties: JsonObject, more: JsonObject = {}): JsonObject {
  return { type: "object", properties, ...more };
}

function listOf(items: JsonObject, keys: readonly string[] = [], maxItems = 64): JsonObject {
  const byKey = { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys };
  return { type: "array", maxItems, items, ...(keys.length === 0 ? {} : byKey) };
}

const CONDITIONS = listOf(
  objectOf(
    {
      type: { ...TEXT, description: "Type of the condition." },
      status: { type: "string", enum: ["True", "False", "Unknown"] },
      reason: TEXT,
      message: { type: "string", maxLength: 32_768 },
      lastTransitionTime: { type: "string", format: "date-time" },
      observedGeneration: { type: "integer", format: "int64", minimum: 0 },
    },
    { required: ["type", "status"] },
  ),
  ["type"],
  8,
);

interface OperatorKind {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
  readonly shortNames?: readonly string[];
  readonly schema: JsonObject;
  readonly columns?: readonly JsonObject[];
}

function definitionOf({ group, plural, kind, shortNames = [], schema, columns = [] }: OperatorKind): JsonObject {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural, kind, ...(shortNames.length === 0 ? {} : { shortNames }) },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schema },
          subresources: { status: {} },
          additionalPrinterColumns: [...columns, { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" }],
        },
      ],
    },
  };
}

const READY = { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' };

/** A certificate: its secret is immutable, and either names or addresses are required. */
export const CERTIFICATES: JsonObject = definitionOf({
  group: "certificates.example.com",
  plural: "certificates",
  kind: "Certificate",
  shortNames: ["cert"],
  columns: [READY, { name: "Secret", type: "string", jsonPath: ".spec.secretName" }],
  schema: objectOf({
    spec: objectOf(
      {
        secretName: { ...TEXT, description: "Secret that the certificate is stored in." },
        dnsNames: { type: "array", maxItems: 100, items: TEXT, "x-kubernetes-list-type": "set" },
        ipAddresses: listOf({ type: "string", maxLength: 45 }),
        duration: { type: "string", default: "2160h" },
        renewBefore: { type: "string" },
        issuerRef: objectOf(
          { name: TEXT, kind: { type: "string", enum: ["Issuer", "ClusterIssuer"], default: "Issuer" } },
          { required: ["name"] },
        ),
        usages: listOf({ type: "string", enum: ["digital signature", "key encipherment", "server auth", "client auth"] }),
        privateKey: objectOf({
          algorithm: { type: "string", enum: ["RSA", "ECDSA", "Ed25519"] },
          size: { type: "integer", minimum: 0, maximum: 8192 },
        }),
      },
      {
        required: ["secretName", "issuerRef"],
        "x-kubernetes-validations": [
          { rule: "self.secretName == oldSelf.secretName", message: "secretName is immutable", fieldPath: ".secretName" },
          { rule: "has(self.dnsNames) || has(self.ipAddresses)", message: "at least one name or address is required" },
          {
            rule: "!has(self.dnsNames) || self.dnsNames.all(name, !name.startsWith('*.') || name.indexOf('*', 1) == -1)",
            message: "only the first label may be a wildcard",
          },
        ],
      },
    ),
    status: objectOf({ conditions: CONDITIONS, revision: { type: "integer" }, notAfter: { type: "string", format: "date-time" } }),
  }),
});

/** Fields of one section of a large schema. */
function section(name: string, count: number): JsonObject {
  const fields = Array.from({ length: count }, (_, index): [string, JsonObject] => {
    const forms: readonly JsonObject[] = [
      TEXT,
      { type: "integer", minimum: 0 },
      { type: "boolean" },
      { "x-kubernetes-int-or-string": true },
    ];
    return [`${name}${index}`, { ...forms[index % forms.length], description: `Setting ${index} of ${name}.` }];
  });
  return Object.fromEntries(fields);
}

const RESOURCES = objectOf({
  limits: { type: "object", maxProperties: 16, additionalProperties: { "x-kubernetes-int-or-string": true } },
  requests: { type: "object", maxProperties: 16, additionalProperties: { "x-kubernetes-int-or-string": true } },
});

const CONTAINERS = listOf(
  objectOf(
    {
      name: TEXT,
      image: TEXT,
      args: listOf(TEXT),
      env: listOf(objectOf({ name: TEXT, value: { type: "string" } }, { required: ["name"] }), ["name"]),
      ports: listOf(
        objectOf(
          { name: TEXT, containerPort: { type: "integer", minimum: 1, maximum: 65_535 }, protocol: { type: "string", default: "TCP" } },
          { required: ["containerPort"] },
        ),
        ["containerPort", "protocol"],
      ),
      resources: RESOURCES,
      securityContext: objectOf(section("security", 20)),
    },
    { required: ["name"] },
  ),
  ["name"],
);

/** A monitoring server with several hundred fields. */
export function monitors(group = "monitoring.example.com"): JsonObject {
  return definitionOf({
    group,
    plural: "monitors",
    kind: "Monitor",
    columns: [{ name: "Replicas", type: "integer", jsonPath: ".spec.replicas" }, READY],
    schema: objectOf({
      spec: objectOf({
        replicas: { type: "integer", minimum: 0, default: 1 },
        containers: CONTAINERS,
        initContainers: CONTAINERS,
        storage: objectOf({ ...section("storage", 60), template: { type: "object", "x-kubernetes-preserve-unknown-fields": true } }),
        remoteWrite: listOf(objectOf({ url: TEXT, ...section("write", 60) }, { required: ["url"] })),
        alerting: objectOf(section("alerting", 80)),
        query: objectOf(section("query", 80)),
        web: objectOf({ ...section("web", 40), tls: objectOf(section("tls", 40)) }),
      }),
      status: objectOf({ conditions: CONDITIONS, replicas: { type: "integer" } }),
    }),
  });
}

/** A gateway: listeners keyed by name, with rules over all of them. */
export const GATEWAYS: JsonObject = definitionOf({
  group: "gateway.example.com",
  plural: "gateways",
  kind: "Gateway",
  shortNames: ["gtw"],
  columns: [{ name: "Class", type: "string", jsonPath: ".spec.className" }, READY],
  schema: objectOf({
    spec: objectOf(
      {
        className: TEXT,
        listeners: {
          ...listOf(
            objectOf(
              {
                name: TEXT,
                hostname: { type: "string", maxLength: 253, pattern: "^(\\*\\.)?[a-z0-9]([-a-z0-9.]*[a-z0-9])?$" },
                port: { type: "integer", minimum: 1, maximum: 65_535 },
                protocol: { type: "string", enum: ["HTTP", "HTTPS", "TCP"] },
                tls: objectOf({ mode: { type: "string", enum: ["Terminate", "Passthrough"], default: "Terminate" }, secretName: TEXT }),
              },
              { required: ["name", "port", "protocol"] },
            ),
            ["name"],
            16,
          ),
          minItems: 1,
          "x-kubernetes-validations": [
            {
              rule: "self.all(l, l.protocol != 'HTTP' || !has(l.tls))",
              message: "tls must not be specified for protocol HTTP",
            },
            {
              rule: "self.all(a, self.exists_one(b, a.port == b.port && a.protocol == b.protocol && (has(a.hostname) == has(b.hostname)) && (!has(a.hostname) || a.hostname == b.hostname)))",
              message: "port, protocol and hostname of listeners must be unique",
            },
          ],
        },
      },
      { required: ["className", "listeners"] },
    ),
    status: objectOf({ conditions: CONDITIONS }),
  }),
});

/** Traffic of a service mesh: routes keyed by name, each with destinations keyed by host and subset whose weights add up. */
export const ROUTES: JsonObject = definitionOf({
  group: "mesh.example.com",
  plural: "trafficroutes",
  kind: "TrafficRoute",
  shortNames: ["tr"],
  columns: [{ name: "Hosts", type: "string", jsonPath: ".spec.hosts" }],
  schema: objectOf({
    spec: objectOf(
      {
        hosts: { type: "array", minItems: 1, maxItems: 32, items: TEXT, "x-kubernetes-list-type": "set" },
        http: listOf(
          objectOf(
            {
              name: { ...TEXT, description: "Name of the route, by which managers share the list." },
              match: listOf(
                objectOf({
                  uri: objectOf({ exact: TEXT, prefix: TEXT, regex: TEXT }),
                  headers: { type: "object", maxProperties: 16, additionalProperties: objectOf({ exact: TEXT, prefix: TEXT }) },
                  ...section("match", 20),
                }),
              ),
              route: {
                ...listOf(
                  objectOf(
                    {
                      host: TEXT,
                      subset: { ...TEXT, default: "all" },
                      weight: { type: "integer", minimum: 0, maximum: 100, default: 100 },
                    },
                    { required: ["host"] },
                  ),
                  ["host", "subset"],
                  16,
                ),
                "x-kubernetes-validations": [
                  { rule: "self.map(d, d.weight).sum() == 100", message: "weights of the destinations must add up to 100" },
                ],
              },
              retries: objectOf({ attempts: { type: "integer", minimum: 0, maximum: 10 }, perTryTimeout: TEXT }),
              fault: objectOf(section("fault", 40)),
            },
            { required: ["name", "route"] },
          ),
          ["name"],
          16,
        ),
        outlierDetection: objectOf(section("outlier", 60)),
        tls: objectOf(section("tls", 60)),
      },
      {
        required: ["hosts"],
        "x-kubernetes-validations": [
          { rule: "oldSelf.hosts.all(h, h in self.hosts)", message: "a host cannot be removed", fieldPath: ".hosts" },
        ],
      },
    ),
    status: objectOf({ conditions: CONDITIONS }),
  }),
});

/** An application that is deployed from a repository: from a path or a chart, to a destination that never changes. */
export const APPLICATIONS: JsonObject = definitionOf({
  group: "gitops.example.com",
  plural: "applications",
  kind: "Application",
  shortNames: ["app"],
  columns: [{ name: "Sync", type: "string", jsonPath: ".status.sync" }, READY],
  schema: objectOf({
    spec: objectOf(
      {
        destination: objectOf({ server: TEXT, namespace: TEXT }, { required: ["namespace"] }),
        sources: listOf(
          objectOf(
            {
              name: TEXT,
              repoURL: { type: "string", format: "uri", maxLength: 253 },
              path: TEXT,
              chart: TEXT,
              targetRevision: { ...TEXT, default: "HEAD", description: "Branch, tag or commit that is deployed." },
              parameters: listOf(objectOf({ name: TEXT, value: { type: "string" } }, { required: ["name"] }), ["name"]),
              options: objectOf(section("option", 80)),
            },
            {
              required: ["name", "repoURL"],
              "x-kubernetes-validations": [{ rule: "has(self.path) != has(self.chart)", message: "either path or chart is required" }],
            },
          ),
          ["name"],
          16,
        ),
        syncPolicy: objectOf({ automated: { type: "boolean", default: false }, ...section("sync", 60) }),
        ignoreDifferences: listOf(objectOf({ group: TEXT, kind: TEXT, jsonPointers: listOf(TEXT) }, { required: ["kind"] })),
        health: objectOf(section("health", 60)),
      },
      {
        required: ["destination", "sources"],
        "x-kubernetes-validations": [
          { rule: "self.destination == oldSelf.destination", message: "destination is immutable", reason: "FieldValueForbidden" },
        ],
      },
    ),
    status: objectOf({ conditions: CONDITIONS, sync: TEXT, history: listOf(objectOf({ revision: TEXT, deployedAt: TEXT })) }),
  }),
});

/** A database cluster: several hundred settings, users keyed by name with grants keyed by database, storage that only grows. */
export const DATABASES: JsonObject = definitionOf({
  group: "databases.example.com",
  plural: "databaseclusters",
  kind: "DatabaseCluster",
  shortNames: ["dbc"],
  columns: [
    { name: "Instances", type: "integer", jsonPath: ".spec.instances" },
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
  ],
  schema: objectOf({
    spec: objectOf(
      {
        instances: { type: "integer", minimum: 1, maximum: 9, default: 3, description: "Number of members, one of which is the primary." },
        storage: objectOf(
          { size: { type: "string", maxLength: 32 }, storageClass: TEXT },
          {
            required: ["size"],
            "x-kubernetes-validations": [
              {
                rule: "quantity(self.size).compareTo(quantity(oldSelf.size)) >= 0",
                messageExpression: "'storage cannot shrink from ' + oldSelf.size + ' to ' + self.size",
              },
            ],
          },
        ),
        users: {
          ...listOf(
            objectOf(
              {
                name: TEXT,
                superuser: { type: "boolean", default: false },
                grants: listOf(
                  objectOf(
                    {
                      database: TEXT,
                      privileges: {
                        type: "array",
                        maxItems: 8,
                        items: { type: "string", enum: ["read", "write", "admin"] },
                        "x-kubernetes-list-type": "set",
                      },
                    },
                    { required: ["database"] },
                  ),
                  ["database"],
                  32,
                ),
              },
              { required: ["name"] },
            ),
            ["name"],
            32,
          ),
          "x-kubernetes-validations": [{ rule: "self.filter(u, u.superuser).size() <= 1", message: "only one superuser is allowed" }],
        },
        parameters: { type: "object", maxProperties: 200, additionalProperties: { type: "string", maxLength: 1_024 } },
        settings: objectOf(section("setting", 240)),
        backup: objectOf({ schedule: TEXT, retention: { type: "string", pattern: "^[1-9][0-9]*[dwm]$" }, ...section("backup", 60) }),
        affinity: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        containers: CONTAINERS,
      },
      { required: ["storage"] },
    ),
    status: objectOf({ conditions: CONDITIONS, phase: TEXT, instances: { type: "integer" } }),
  }),
});
