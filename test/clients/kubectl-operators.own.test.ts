/**
 * The real kubectl with custom resources in the style of six families of large public operators: each definition and object is applied
 * twice, shown in a table and explained; two field managers share its deepest keyed list; invalid objects get upstream's messages.
 */
import { equal, match } from "node:assert/strict";
import { after, describe, test } from "node:test";
import {
  APPLICATIONS,
  CERTIFICATES,
  DATABASES,
  GATEWAYS,
  monitors,
  ROUTES,
} from "../../src/apiserver/customresources/testing/operators.ts";
import type { JsonObject } from "../../src/api/machinery/object.ts";
import { startTestApiServer } from "../../src/testing/servers/api-server.ts";
import { needs } from "../../src/testing/needs.ts";

const server = await startTestApiServer();
after(() => server.close());

interface Family {
  readonly definition: JsonObject;
  /** Plural and group. */
  readonly resource: string;
  readonly kind: string;
  /** A valid spec. */
  readonly spec: JsonObject;
  readonly table: RegExp;
  readonly explained: readonly [path: string, text: RegExp];
  /** Specs of two managers, what both together are, and what the second cannot change. */
  readonly shared: {
    readonly one: JsonObject;
    readonly two: JsonObject;
    readonly jsonPath: string;
    readonly value: string;
    readonly conflicting: JsonObject;
    readonly conflict: RegExp;
  };
  /** Specs that replace the valid one, and kubectl's message. */
  readonly refused: readonly (readonly [spec: JsonObject, message: RegExp])[];
}

const ISSUER = { secretName: "tls", issuerRef: { name: "ca" } };
const HTTP = { name: "http", port: 80, protocol: "HTTP" };
const HTTPS = { name: "https", port: 443, protocol: "HTTPS", tls: { secretName: "s" } };
const STORAGE = { storage: { size: "10Gi" } };
const CONTAINER = { name: "server", image: "example/server:1" };
const SOURCE = { name: "main", repoURL: "https://git.example.com/a", path: "deploy" };
const DEPLOYED = { destination: { namespace: "prod" }, sources: [SOURCE] };

function routes(...destinations: JsonObject[]): JsonObject {
  return { hosts: ["web"], http: [{ name: "main", route: destinations }] };
}

const FAMILIES: Readonly<Record<string, Family>> = {
  "a certificate manager": {
    definition: CERTIFICATES,
    resource: "certificates.certificates.example.com",
    kind: "Certificate",
    spec: { ...ISSUER, dnsNames: ["example.com"] },
    table: /^NAME +READY +SECRET +AGE\nmain +tls +\S+\n$/,
    explained: ["spec.secretName", /FIELD: secretName <string>[^]*Secret that the certificate is stored in/],
    shared: {
      one: { ...ISSUER, dnsNames: ["a.example.com"] },
      two: { dnsNames: ["b.example.com"] },
      jsonPath: "{.spec.dnsNames}",
      value: '["a.example.com","b.example.com"]',
      conflicting: { secretName: "other", dnsNames: ["b.example.com"] },
      conflict: /conflict with "one": \.spec\.secretName/,
    },
    refused: [
      [
        { ...ISSUER, dnsNames: ["a"], privateKey: { algorithm: "DSA" } },
        /spec\.privateKey\.algorithm: Unsupported value: "DSA": supported values: "RSA", "ECDSA", "Ed25519"/,
      ],
      [{ ...ISSUER, dnsNames: ["a"], foo: 1 }, /strict decoding error: unknown field "spec\.foo"/],
      [{ ...ISSUER, dnsNames: ["a"], secretName: "new" }, /spec\.secretName: Invalid value: secretName is immutable/],
      [ISSUER, /spec: Invalid value: at least one name or address is required/],
    ],
  },
  "a Prometheus operator": {
    definition: monitors(),
    resource: "monitors.monitoring.example.com",
    kind: "Monitor",
    spec: { containers: [CONTAINER] },
    table: /^NAME +REPLICAS +READY +AGE\nmain +1 +\S+\n$/,
    explained: ["spec.web.tls.tls7", /Setting 7 of tls/],
    shared: {
      one: { containers: [{ ...CONTAINER, env: [{ name: "A", value: "1" }] }] },
      two: { containers: [{ name: "server", env: [{ name: "B", value: "2" }] }] },
      jsonPath: "{.spec.containers[0].env[*].name}",
      value: "A B",
      conflicting: { containers: [{ name: "server", env: [{ name: "A", value: "3" }] }] },
      conflict: /conflict with "one": \.spec\.containers\[name="server"\]\.env\[name="A"\]\.value/,
    },
    refused: [
      [{ replicas: -1 }, /spec\.replicas: Invalid value: -1: spec\.replicas in body should be greater than or equal to 0/],
      [{ containers: [CONTAINER, CONTAINER] }, /spec\.containers\[1\]: Duplicate value: \{"name":"server"\}/],
      [{ remoteWrite: [{}] }, /spec\.remoteWrite\[0\]\.url: Required value/],
    ],
  },
  "a service mesh": {
    definition: ROUTES,
    resource: "trafficroutes.mesh.example.com",
    kind: "TrafficRoute",
    spec: routes({ host: "web" }),
    table: /^NAME +HOSTS +AGE\nmain +\["web"\] +\S+\n$/,
    explained: ["spec.http.name", /Name of the route, by which managers share the list/],
    shared: {
      one: routes({ host: "web", subset: "v1", weight: 100 }),
      two: routes({ host: "web", subset: "v2", weight: 0 }),
      jsonPath: "{.spec.http[0].route[*].subset}",
      value: "v1 v2",
      conflicting: routes({ host: "web", subset: "v1", weight: 50 }, { host: "web", subset: "v2", weight: 50 }),
      conflict: /conflict with "one": \.spec\.http\[name="main"\]\.route\[host="web",subset="v1"\]\.weight/,
    },
    refused: [
      [routes({ host: "web", weight: 90 }), /spec\.http\[0\]\.route: Invalid value: weights of the destinations must add up to 100/],
      [{ ...routes({ host: "web" }), hosts: ["other"] }, /spec\.hosts: Invalid value: a host cannot be removed/],
      [{ hosts: [] }, /spec\.hosts: Invalid value: 0: spec\.hosts in body should have at least 1 items/],
    ],
  },
  "the Gateway API": {
    definition: GATEWAYS,
    resource: "gateways.gateway.example.com",
    kind: "Gateway",
    spec: { className: "a", listeners: [HTTP] },
    table: /^NAME +CLASS +READY +AGE\nmain +a +\S+\n$/,
    explained: ["spec.listeners.port", /FIELD: port <integer>/],
    shared: {
      one: { className: "a", listeners: [HTTP] },
      two: { className: "a", listeners: [HTTPS] },
      jsonPath: "{.spec.listeners[*].name}",
      value: "http https",
      conflicting: { className: "a", listeners: [{ ...HTTP, port: 81 }] },
      conflict: /conflict with "one": \.spec\.listeners\[name="http"\]\.port/,
    },
    refused: [
      [
        { className: "a", listeners: [{ ...HTTP, tls: {} }] },
        /spec\.listeners: Invalid value: tls must not be specified for protocol HTTP/,
      ],
      [
        { className: "a", listeners: [HTTP, { ...HTTP, name: "b" }] },
        /spec\.listeners: Invalid value: port, protocol and hostname of listeners must be unique/,
      ],
      [
        { className: "a", listeners: [{ ...HTTP, hostname: "-" }] },
        /spec\.listeners\[0\]\.hostname: Invalid value: "-": spec\.listeners\[0\]\.hostname in body should match/,
      ],
    ],
  },
  "a GitOps operator": {
    definition: APPLICATIONS,
    resource: "applications.gitops.example.com",
    kind: "Application",
    spec: DEPLOYED,
    table: /^NAME +SYNC +READY +AGE\nmain +\S+\n$/,
    explained: ["spec.sources.targetRevision", /Branch, tag or commit that is deployed/],
    shared: {
      one: { ...DEPLOYED, sources: [{ ...SOURCE, parameters: [{ name: "a", value: "1" }] }] },
      two: { sources: [{ name: "main", parameters: [{ name: "b", value: "2" }] }] },
      jsonPath: "{.spec.sources[0].parameters[*].name}",
      value: "a b",
      conflicting: { sources: [{ name: "main", parameters: [{ name: "a", value: "3" }] }] },
      conflict: /conflict with "one": \.spec\.sources\[name="main"\]\.parameters\[name="a"\]\.value/,
    },
    refused: [
      [{ ...DEPLOYED, sources: [{ ...SOURCE, chart: "c" }] }, /spec\.sources\[0\]: Invalid value: either path or chart is required/],
      [{ ...DEPLOYED, destination: { namespace: "other" } }, /spec: Forbidden: destination is immutable/],
      [{ sources: [SOURCE] }, /spec\.destination: Required value/],
    ],
  },
  "a database operator": {
    definition: DATABASES,
    resource: "databaseclusters.databases.example.com",
    kind: "DatabaseCluster",
    spec: STORAGE,
    table: /^NAME +INSTANCES +PHASE +AGE\nmain +3 +\S+\n$/,
    explained: ["spec.settings.setting200", /Setting 200 of setting/],
    shared: {
      one: { ...STORAGE, users: [{ name: "app", grants: [{ database: "a", privileges: ["read"] }] }] },
      two: { users: [{ name: "app", grants: [{ database: "b", privileges: ["write"] }] }] },
      jsonPath: "{.spec.users[0].grants[*].database}",
      value: "a b",
      conflicting: { storage: { size: "20Gi" } },
      conflict: /conflict with "one": \.spec\.storage\.size/,
    },
    refused: [
      [{ storage: { size: "5Gi" } }, /spec\.storage: Invalid value: storage cannot shrink from 10Gi to 5Gi/],
      [
        { ...STORAGE, users: ["a", "b"].map((name) => ({ name, superuser: true })) },
        /spec\.users: Invalid value: only one superuser is allowed/,
      ],
      [
        { ...STORAGE, backup: { retention: "30" } },
        /spec\.backup\.retention: Invalid value: "30": spec\.backup\.retention in body should match/,
      ],
    ],
  },
};

for (const [title, { definition, resource, kind, spec, table, explained, shared, refused }] of Object.entries(FAMILIES)) {
  const [plural = "", ...parts] = resource.split(".");
  const group = parts.join(".");
  const object = (name: string, wanted: JsonObject): JsonObject => ({
    apiVersion: `${group}/v1`,
    kind,
    metadata: { name },
    spec: wanted,
  });
  const prepared = async (purpose: string) => {
    const kubectl = await server.inNamespace(`${plural}-${purpose}`);
    await kubectl("apply -f -", { input: definition });
    await kubectl(`wait crd/${resource} --for=condition=established --timeout=60s`);
    return kubectl;
  };

  describe(`custom resources in the style of ${title}`, () => {
    test("are applied twice, shown in tables and explained", needs("kubectl"), async () => {
      const kubectl = await prepared("applied");
      const name = `${kind.toLowerCase()}.${group}/main`;

      equal(await kubectl("apply -f -", { input: definition }), `customresourcedefinition.apiextensions.k8s.io/${resource} unchanged\n`);
      equal(await kubectl("apply -f -", { input: object("main", spec) }), `${name} created\n`);
      const version = await kubectl(`get ${resource} main -o jsonpath={.metadata.resourceVersion}`);
      // kubectl says "configured" where the server has added defaults to items of a list, as with upstream; nothing is written.
      match(await kubectl("apply -f -", { input: object("main", spec) }), /main (unchanged|configured)\n$/);
      equal(await kubectl(`get ${resource} main -o jsonpath={.metadata.resourceVersion}`), version);

      match(await kubectl(`get ${resource}`), table);
      match(await kubectl(`explain ${resource}.${explained[0]}`), explained[1]);
    });

    test("are shared by two field managers down to the items of keyed lists", needs("kubectl"), async () => {
      const kubectl = await prepared("shared");
      const apply = (manager: string, wanted: JsonObject) =>
        kubectl.run(`apply --server-side --field-manager=${manager} -f -`, { input: object("main", wanted) });

      for (let time = 0; time < 2; time++) {
        equal((await apply("one", shared.one)).stderr, "");
        equal((await apply("two", shared.two)).stderr, "");
      }

      equal(await kubectl(`get ${resource} main -o jsonpath=${shared.jsonPath}`), shared.value);
      match((await apply("two", shared.conflicting)).stderr, shared.conflict);
    });

    test("are refused with upstream's messages", needs("kubectl"), async () => {
      const kubectl = await prepared("refused");
      await kubectl("apply -f -", { input: object("main", spec) });

      for (const [wanted, message] of refused) {
        const { stderr } = await kubectl.run("apply -f -", { input: object("main", wanted) });
        match(stderr, message);
      }
    });
  });
}
