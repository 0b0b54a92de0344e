import assert from "node:assert/strict";
import { test } from "node:test";
import type { Container, PodSpec } from "../../api/generated/core/v1.ts";
import { ContainerConfigError } from "../contracts/pod-machine.ts";
import { environmentOf, type EnvironmentView } from "./environment.ts";
import { aContainer, aPod, aService, aVolume, node, referencesTo, type Objects } from "./testing/views.ts";

const master = aService("kubernetes", "default", { clusterIP: "10.96.0.1", ports: [{ name: "https", port: 443, protocol: "TCP" }] });

const OF_MASTER = {
  KUBERNETES_SERVICE_HOST: "10.96.0.1",
  KUBERNETES_SERVICE_PORT: "443",
  KUBERNETES_SERVICE_PORT_HTTPS: "443",
  KUBERNETES_PORT: "tcp://10.96.0.1:443",
  KUBERNETES_PORT_443_TCP: "tcp://10.96.0.1:443",
  KUBERNETES_PORT_443_TCP_PROTO: "tcp",
  KUBERNETES_PORT_443_TCP_PORT: "443",
  KUBERNETES_PORT_443_TCP_ADDR: "10.96.0.1",
};

interface Case {
  readonly container: Partial<Container>;
  readonly objects?: Objects;
  readonly spec?: Partial<PodSpec>;
  readonly view?: Partial<EnvironmentView>;
}

async function environment({ container: fields, objects = {}, spec = {}, view = {} }: Case): Promise<Record<string, string>> {
  const container = aContainer(fields);
  const variables = await environmentOf({
    pod: aPod({ containers: [container], ...spec }, { labels: { app: "web" } }),
    container,
    addresses: { podIps: ["10.1.0.5"], hostIps: node.hostIps },
    allocatable: node.allocatable,
    references: referencesTo(objects),
    mounted: new Map(),
    readFile: () => Promise.reject(new Error("There is no file")),
    ...view,
  });
  return Object.fromEntries(variables);
}

const OBJECTS: Objects = {
  configMaps: { "shop/settings": { "p-data-1": "one", "$_-data-1": "two", "#@!data-1": "three", A: "from-map" } },
  secrets: { "shop/keys": { password: "pässword", A: "from-secret" } },
};

const cases: readonly (readonly [claim: string, given: Case, environment: Record<string, string>])[] = [
  [
    "a value references earlier variables, not later ones",
    {
      container: {
        env: [
          { name: "A", value: "a" },
          { name: "B", value: "$(A)-$(C)-$$(A)" },
          { name: "C", value: "c" },
        ],
      },
    },
    { A: "a", B: "a-$(C)-$(A)", C: "c" },
  ],
  [
    "the last of a name wins and may reference the previous one",
    {
      container: {
        env: [
          { name: "A", value: "a" },
          { name: "A", value: "$(A)b" },
        ],
      },
    },
    { A: "ab" },
  ],
  ["a variable without a value is empty", { container: { env: [{ name: "A" }] } }, { A: "" }],
  [
    "envFrom of a ConfigMap uses any key as a name, with the prefix",
    { container: { envFrom: [{ prefix: "p_", configMapRef: { name: "settings" } }] }, objects: OBJECTS },
    { "p_p-data-1": "one", "p_$_-data-1": "two", "p_#@!data-1": "three", p_A: "from-map" },
  ],
  [
    "a later source wins, and env overrides and references envFrom",
    {
      container: {
        envFrom: [{ secretRef: { name: "keys" } }, { configMapRef: { name: "settings" } }],
        env: [
          { name: "password", value: "none" },
          { name: "B", value: "$(A) $(p-data-1)" },
        ],
      },
      objects: OBJECTS,
    },
    { A: "from-map", "p-data-1": "one", "$_-data-1": "two", "#@!data-1": "three", password: "none", B: "from-map one" },
  ],
  [
    "missing optional sources are skipped",
    {
      container: {
        envFrom: [{ configMapRef: { name: "none", optional: true } }, { secretRef: { name: "none", optional: true } }],
        env: [
          { name: "A", valueFrom: { configMapKeyRef: { name: "none", key: "k", optional: true } } },
          { name: "B", valueFrom: { secretKeyRef: { name: "keys", key: "k", optional: true } } },
        ],
      },
      objects: OBJECTS,
    },
    {},
  ],
  [
    "single keys, fields and resources",
    {
      container: {
        env: [
          { name: "MAP", valueFrom: { configMapKeyRef: { name: "settings", key: "p-data-1" } } },
          { name: "SECRET", valueFrom: { secretKeyRef: { name: "keys", key: "password" } } },
          { name: "FIELD", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
          { name: "LABEL", valueFrom: { fieldRef: { fieldPath: "metadata.labels['app']" } } },
          { name: "CPU", valueFrom: { resourceFieldRef: { resource: "limits.cpu" } } },
        ],
      },
      objects: OBJECTS,
    },
    { MAP: "one", SECRET: "pässword", FIELD: "10.1.0.5", LABEL: "web", CPU: "4" },
  ],
  [
    "values from references are not expanded",
    {
      container: {
        env: [
          { name: "A", valueFrom: { configMapKeyRef: { name: "m", key: "k" } } },
          { name: "B", value: "$(A)" },
        ],
      },
      objects: { configMaps: { "shop/m": { k: "$(HOME)" } } },
    },
    { A: "$(HOME)", B: "$(HOME)" },
  ],
  [
    "the API server's Service is always present",
    { container: {}, objects: { services: [master] }, spec: { enableServiceLinks: false } },
    OF_MASTER,
  ],
  [
    "Service variables can be referenced and overridden",
    {
      container: {
        env: [
          { name: "URL", value: "https://$(KUBERNETES_SERVICE_HOST)" },
          { name: "KUBERNETES_SERVICE_HOST", value: "here" },
        ],
      },
      objects: { services: [master] },
    },
    { ...OF_MASTER, URL: "https://10.96.0.1", KUBERNETES_SERVICE_HOST: "here" },
  ],
];

for (const [claim, given, expected] of cases) {
  test(`environment: ${claim}`, async () => {
    assert.deepEqual(await environment(given), expected);
  });
}

const refused: readonly (readonly [message: string, given: Case])[] = [
  ['configmap "none" not found', { container: { envFrom: [{ configMapRef: { name: "none" } }] } }],
  ['secret "none" not found', { container: { envFrom: [{ secretRef: { name: "none" } }] } }],
  ['configmap "none" not found', { container: { env: [{ name: "A", valueFrom: { configMapKeyRef: { name: "none", key: "k" } } }] } }],
  ['secret "none" not found', { container: { env: [{ name: "A", valueFrom: { secretKeyRef: { name: "none", key: "k" } } }] } }],
  [
    "couldn't find key k in ConfigMap shop/settings",
    { container: { env: [{ name: "A", valueFrom: { configMapKeyRef: { name: "settings", key: "k" } } }] }, objects: OBJECTS },
  ],
  [
    "couldn't find key k in Secret shop/keys",
    { container: { env: [{ name: "A", valueFrom: { secretKeyRef: { name: "keys", key: "k" } } }] }, objects: OBJECTS },
  ],
  ["field label not supported: spec.x", { container: { env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "spec.x" } } }] } }],
  [
    "The API is away",
    { container: {}, view: { references: { ...referencesTo({}), services: () => Promise.reject(new Error("The API is away")) } } },
  ],
];

for (const [message, given] of refused) {
  test(`environment: a container is not created: ${message}`, async () => {
    await assert.rejects(environment(given), new ContainerConfigError(message));
  });
}

// ── Services ────────────────────────────────────────────────────────────────────────────────────────

test("Services of the namespace with a cluster IP get all of upstream's environment variables", async () => {
  const services = [
    aService("foo-service", "shop", {
      clusterIP: "10.96.3.4",
      ports: [
        { port: 8765, protocol: "TCP" },
        { name: "dns-udp", port: 53, protocol: "UDP" },
      ],
    }),
    aService("six", "shop", { clusterIP: "fd00::9", ports: [{ port: 80 }] }),
    aService("headless", "shop", { clusterIP: "None", ports: [{ port: 80 }] }),
    aService("elsewhere", "other", { clusterIP: "10.96.3.5", ports: [{ port: 80 }] }),
    aService("named", "shop", { externalName: "x.example", type: "ExternalName" }),
  ];

  assert.deepEqual(await environment({ container: {}, objects: { services } }), {
    FOO_SERVICE_SERVICE_HOST: "10.96.3.4",
    FOO_SERVICE_SERVICE_PORT: "8765",
    FOO_SERVICE_SERVICE_PORT_DNS_UDP: "53",
    FOO_SERVICE_PORT: "tcp://10.96.3.4:8765",
    FOO_SERVICE_PORT_8765_TCP: "tcp://10.96.3.4:8765",
    FOO_SERVICE_PORT_8765_TCP_PROTO: "tcp",
    FOO_SERVICE_PORT_8765_TCP_PORT: "8765",
    FOO_SERVICE_PORT_8765_TCP_ADDR: "10.96.3.4",
    FOO_SERVICE_PORT_53_UDP: "udp://10.96.3.4:53",
    FOO_SERVICE_PORT_53_UDP_PROTO: "udp",
    FOO_SERVICE_PORT_53_UDP_PORT: "53",
    FOO_SERVICE_PORT_53_UDP_ADDR: "10.96.3.4",
    SIX_SERVICE_HOST: "fd00::9",
    SIX_SERVICE_PORT: "80",
    SIX_PORT: "tcp://[fd00::9]:80",
    SIX_PORT_80_TCP: "tcp://[fd00::9]:80",
    SIX_PORT_80_TCP_PROTO: "tcp",
    SIX_PORT_80_TCP_PORT: "80",
    SIX_PORT_80_TCP_ADDR: "fd00::9",
  });
});

test("a Service named kubernetes in the Pod's namespace takes precedence over the API server's, unless enableServiceLinks is false", async () => {
  const own = aService("kubernetes", "shop", { clusterIP: "10.96.7.7", ports: [{ port: 1 }] });
  for (const services of [
    [master, own],
    [own, master],
  ]) {
    const linked = await environment({ container: {}, objects: { services } });
    const unlinked = await environment({ container: {}, objects: { services }, spec: { enableServiceLinks: false } });
    assert.deepEqual([linked["KUBERNETES_SERVICE_HOST"], unlinked["KUBERNETES_SERVICE_HOST"]], ["10.96.7.7", "10.96.0.1"]);
  }
});

// ── files ───────────────────────────────────────────────────────────────────────────────────────────

function withFile(text: string, optional = false): Case {
  const fileKeyRef = { volumeName: "v", path: "dir/env", key: "KEY", optional };
  return {
    container: { env: [{ name: "A", valueFrom: { fileKeyRef } }] },
    view: { mounted: new Map([["v", aVolume("/vol")]]), readFile: ({ path }, file) => Promise.resolve(`PATH='${path}/${file}'\n${text}`) },
  };
}

test("fileKeyRef reads a variable from a file of a volume", async () => {
  assert.deepEqual(await environment(withFile("KEY='v'")), { A: "v" });
  assert.deepEqual(await environment(withFile("", true)), {});
});

test("fileKeyRef with a missing key, a malformed file or a missing volume fails the container", async () => {
  const missing = new ContainerConfigError('environment variable key "KEY" not found in file "/vol/dir/env"');
  await assert.rejects(environment(withFile("")), missing);
  await assert.rejects(environment(withFile("what")), new ContainerConfigError("couldn't parse env file"));
  const { container } = withFile("");
  await assert.rejects(environment({ container }), new ContainerConfigError('cannot find the volume "v" referenced by FileKeyRef'));
});
