import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { VolumeProjection } from "../../../api/generated/core/v1.ts";
import { volumeSuite } from "../testing/volume-suite.ts";
import { VolumeWorld } from "../testing/volume-world.ts";
import { projected } from "./projected.ts";

function prepare({ configMaps, secrets }: VolumeWorld): void {
  configMaps.set("c", { data: { color: "blue" } });
  secrets.set("s", { password: "pw" });
}

const SOURCES = [
  { configMap: { name: "c", items: [{ key: "color", path: "same" }] } },
  { secret: { name: "s", items: [{ key: "password", path: "same", mode: 0o400 }] } },
  { downwardAPI: { items: [{ path: "uid", fieldRef: { fieldPath: "metadata.uid" } }] } },
  { serviceAccountToken: { path: "token", audience: "vault", expirationSeconds: 600 } },
];
const [MISSING_CONFIG_MAP, MISSING_SECRET] = [{ configMap: { name: "none" } }, { secret: { name: "none" } }];

volumeSuite({
  plugin: projected,
  source: { projected: { sources: SOURCES } },
  prepare,
  change: ({ secrets }) => void secrets.set("s", { password: "new" }),
  invalid: [
    {
      source: { projected: { sources: [MISSING_CONFIG_MAP, MISSING_SECRET] } },
      message: '[configmap "none" not found, secret "none" not found]',
    },
    { source: { projected: { sources: [MISSING_SECRET, MISSING_SECRET] } }, message: 'secret "none" not found' },
    {
      source: { projected: { sources: [{ clusterTrustBundle: { path: "x" } }] } },
      message: "ClusterTrustBundle projection requires either name or signerName to be set",
    },
    {
      source: { projected: { sources: [{ clusterTrustBundle: { name: "none", path: "x" } }] } },
      message: 'while getting ClusterTrustBundle: clustertrustbundle.certificates.k8s.io "none" not found',
    },
    {
      source: { projected: { sources: [{ clusterTrustBundle: { signerName: "a.b/c", labelSelector: {}, path: "x" } }] } },
      message: "combination of signerName and labelSelector matched zero ClusterTrustBundles",
    },
    {
      source: { projected: { sources: [{ later: {} } as VolumeProjection] } },
      message: "sources of type later are not supported by this version",
    },
  ],
});

test("a projected volume has the files of all sources, and the later source wins", async () => {
  const world = new VolumeWorld();
  prepare(world);

  deepEqual(await world.filesOf(projected, { projected: { sources: SOURCES, defaultMode: 0o444 } }), [
    "same 400 - pw",
    "token 444 - token vault 600",
    "uid 444 - u",
  ]);
});

test("a source without a kind, such as one whose feature gate is off, adds no files", async () => {
  const world = new VolumeWorld();
  prepare(world);
  const empty = { projected: { sources: [{}] } };
  const beside = { projected: { sources: [...SOURCES, {}] } };

  const files = await Promise.all([empty, beside].map((source) => world.filesOf(projected, source)));

  deepEqual(files, [[], ["same 400 - pw", "token 644 - token vault 600", "uid 644 - u"]]);
});

for (const [securityContext, users, rights] of [
  [{}, [undefined], "644 -"],
  [{}, [7, 7], "600 7"],
  [{}, [7, 8], "644 -"],
  [{}, [7, undefined], "644 -"],
  [{ runAsUser: 7 }, [7, undefined], "600 7"],
  [{ fsGroup: 9 }, [undefined], "600 -"],
] as const) {
  test(`a token in a Pod with ${JSON.stringify(securityContext)} and users ${users.join(", ")} has mode and owner ${rights}`, async () => {
    const world = new VolumeWorld();
    const containers = users.map((user, index) => {
      return { name: `c${index}`, image: "i", ...(user === undefined ? {} : { securityContext: { runAsUser: user } }) };
    });
    world.spec = { securityContext, containers };

    const files = await world.filesOf(projected, { projected: { sources: [{ serviceAccountToken: { path: "token" } }] } });

    deepEqual(files, [`token ${rights} token - 0`]);
  });
}

test("a Pod certificate is written as a bundle, a key and a chain, readable as a token is", async () => {
  const world = new VolumeWorld();
  const [signerName, keyType] = ["example.com/s", "ED25519"];
  const sources = [
    { podCertificate: { signerName, keyType, credentialBundlePath: "both.pem" } },
    { podCertificate: { signerName, keyType, keyPath: "key.pem", certificateChainPath: "chain.pem" } },
  ];
  world.spec = { securityContext: { fsGroup: 9 } };

  deepEqual(await world.filesOf(projected, { projected: { sources } }), [
    "both.pem 600 - key v 0\nchain\n",
    "chain.pem 600 - chain\n",
    "key.pem 600 - key v 1\n",
  ]);
});
