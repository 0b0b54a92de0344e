import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConfigMap, Pod, Secret, Volume } from "../../../api/generated/core/v1.ts";
import { encodeBase64 } from "../../../api/machinery/codec/base64.ts";
import { encodeUtf8 } from "../../../base/utf8.ts";
import type { TokenWish } from "../../references/service-account-tokens.ts";
import { collectFiles } from "./collect-files.ts";

const CONFIG_MAP: ConfigMap = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "c", namespace: "ns" },
  data: { color: "blue", "shape.txt": "round" },
  binaryData: { raw: encodeBase64(new Uint8Array([0, 255])) },
};
const SECRET: Secret = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "s", namespace: "ns" },
  data: { password: encodeBase64(encodeUtf8("pw")) },
};
const POD: Pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p", namespace: "ns", uid: "u", labels: { b: 'say "hi"\n', a: "1" } },
  spec: { containers: [{ name: "main", image: "i", resources: { limits: { cpu: "1250m" }, requests: { memory: "10Mi" } } }] },
};

interface Case {
  readonly volume: Omit<Volume, "name">;
  readonly pod?: Pod;
}

/** Each file as "path mode owner text". */
async function linesOf({ volume, pod = POD }: Case): Promise<readonly string[]> {
  const files = await collectFiles(
    { name: "v", ...volume },
    {
      pod,
      references: {
        configMap: (namespace, name) => Promise.resolve(namespace === "ns" && name === "c" ? CONFIG_MAP : undefined),
        secret: (namespace, name) => Promise.resolve(namespace === "ns" && name === "s" ? SECRET : undefined),
      },
      tokens: {
        token: (_pod, { audience = "-", expirationSeconds = 0 }: TokenWish) => Promise.resolve(`token ${audience} ${expirationSeconds}`),
      },
      nodeAllocatable: { cpu: "4", memory: "8Gi" },
      signal: new AbortController().signal,
    },
  );
  const text = (data: Uint8Array) => (data[0] === 0 ? `[${data.join()}]` : new TextDecoder().decode(data));
  return [...files].map(([path, { data, mode, ownerUid = "-" }]) => `${path} ${mode.toString(8)} ${ownerUid} ${text(data)}`).toSorted();
}

test("a ConfigMap is all of its keys, or those that are named, with their modes", async () => {
  assert.deepEqual(await linesOf({ volume: { configMap: { name: "c" } } }), [
    "color 644 - blue",
    "raw 644 - [0,255]",
    "shape.txt 644 - round",
  ]);
  const items = [
    { key: "color", path: "x/y" },
    { key: "raw", path: "r", mode: 0o400 },
  ];
  assert.deepEqual(await linesOf({ volume: { configMap: { name: "c", items, defaultMode: 0o440 } } }), [
    "r 400 - [0,255]",
    "x/y 440 - blue",
  ]);
});

test("a Secret is its decoded values", async () => {
  assert.deepEqual(await linesOf({ volume: { secret: { secretName: "s", defaultMode: 0o400 } } }), ["password 400 - pw"]);
});

test("what is missing is said in upstream's words, unless it is optional", async () => {
  const items = [
    { key: "color", path: "color" },
    { key: "size", path: "size" },
  ];
  for (const [volume, message] of [
    [{ configMap: { name: "none" } }, 'configmap "none" not found'],
    [{ secret: { secretName: "none" } }, 'secret "none" not found'],
    [{ configMap: { name: "c", items } }, "configmap references non-existent config key: size"],
    [{ secret: { secretName: "s", items } }, "references non-existent secret key: color"],
    [
      { projected: { sources: [{ configMap: { name: "none" } }, { secret: { name: "none" } }] } },
      '[configmap "none" not found, secret "none" not found]',
    ],
    [{ projected: { sources: [{ secret: { name: "none" } }, { secret: { name: "none" } }] } }, 'secret "none" not found'],
    [
      { projected: { sources: [{ clusterTrustBundle: { path: "x" } }] } },
      "sources of type clusterTrustBundle are not supported by this version",
    ],
    [{ downwardAPI: { items: [{ path: "x", fieldRef: { fieldPath: "status.podIP" } }] } }, "unsupported fieldPath: status.podIP"],
    [
      { downwardAPI: { items: [{ path: "x", resourceFieldRef: { containerName: "other", resource: "limits.cpu" } }] } },
      "container other not found",
    ],
  ] as const) {
    await assert.rejects(linesOf({ volume }), { message });
  }
  assert.deepEqual(await linesOf({ volume: { configMap: { name: "none", optional: true } } }), []);
  assert.deepEqual(await linesOf({ volume: { configMap: { name: "c", items, optional: true } } }), ["color 644 - blue"]);
});

test("the downward API is the Pod's labels, its fields and its containers' amounts", async () => {
  const items = [
    { path: "labels", fieldRef: { fieldPath: "metadata.labels" } },
    { path: "name", fieldRef: { fieldPath: "metadata.name" }, mode: 0o400 },
    { path: "cpu", resourceFieldRef: { containerName: "main", resource: "limits.cpu" } },
    { path: "memory", resourceFieldRef: { containerName: "main", resource: "limits.memory", divisor: "1Mi" } },
    { path: "request", resourceFieldRef: { containerName: "main", resource: "requests.memory", divisor: "1Mi" } },
  ];
  assert.deepEqual(await linesOf({ volume: { downwardAPI: { items } } }), [
    "cpu 644 - 2",
    'labels 644 - a="1"\nb="say \\"hi\\"\\n"',
    "memory 644 - 8192",
    "name 400 - p",
    "request 644 - 10",
  ]);
});

test("a projected volume is all of its sources, of which the later win", async () => {
  const sources = [
    { configMap: { name: "c", items: [{ key: "color", path: "same" }] } },
    { secret: { name: "s", items: [{ key: "password", path: "same", mode: 0o400 }] } },
    { downwardAPI: { items: [{ path: "uid", fieldRef: { fieldPath: "metadata.uid" } }] } },
    { serviceAccountToken: { path: "token", audience: "vault", expirationSeconds: 600 } },
  ];
  assert.deepEqual(await linesOf({ volume: { projected: { sources, defaultMode: 0o444 } } }), [
    "same 400 - pw",
    "token 444 - token vault 600",
    "uid 444 - u",
  ]);
});

test("a token is private to the only user of the Pod, or to the Pod's group", async () => {
  const volume = { projected: { sources: [{ serviceAccountToken: { path: "token" } }] } };
  const podOf = (securityContext: object, ...users: readonly (number | undefined)[]): Pod => ({
    ...POD,
    spec: {
      securityContext,
      containers: users.map((user, index) => ({
        name: `c${index}`,
        image: "i",
        ...(user === undefined ? {} : { securityContext: { runAsUser: user } }),
      })),
    },
  });
  for (const [pod, rights] of [
    [podOf({}, undefined), "644 -"],
    [podOf({}, 7, 7), "600 7"],
    [podOf({}, 7, 8), "644 -"],
    [podOf({}, 7, undefined), "644 -"],
    [podOf({ runAsUser: 7 }, 7, undefined), "600 7"],
    [podOf({ fsGroup: 9 }, undefined), "600 -"],
  ] as const) {
    assert.deepEqual(await linesOf({ volume, pod }), [`token ${rights} token - 0`]);
  }
});
