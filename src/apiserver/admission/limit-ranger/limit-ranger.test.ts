import assert from "node:assert/strict";
import { test } from "node:test";
import type { LimitRange, LimitRangeItem, PersistentVolumeClaim, Pod } from "../../../api/generated/core/v1.ts";
import type { JsonObject } from "../../../api/machinery/object.ts";
import { DEFAULT_ADMISSION_CONFIG } from "../../framework/admission-config.ts";
import { startServer, type StartedServer } from "../../testing/server.ts";
import { claimViolations, podViolations } from "./constraints.ts";
import { withDefaults } from "./limit-ranger.ts";

type List = Readonly<Record<string, string>>;
interface Resources {
  readonly requests?: List;
  readonly limits?: List;
}

function aRange(...limits: readonly LimitRangeItem[]): LimitRange {
  return { apiVersion: "v1", kind: "LimitRange", metadata: { name: "l" }, spec: { limits } };
}

function aPod(containers: readonly Resources[], spec: object = {}): Pod {
  const all = containers.map((resources, index) => ({ name: `c${index + 1}`, image: "i", resources }));
  return { apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec: { containers: all, ...spec } };
}

const VIOLATIONS: readonly [what: string, item: LimitRangeItem, pod: Pod, sentences: readonly string[]][] = [
  [
    "a container below the minimum",
    { type: "Container", min: { cpu: "100m", memory: "1Gi" } },
    aPod([{ requests: { cpu: "50m" } }]),
    ["minimum cpu usage per Container is 100m, but request is 50m", "minimum memory usage per Container is 1Gi.  No request is specified"],
  ],
  [
    "a limit below the minimum",
    { type: "Container", min: { cpu: "100m" } },
    aPod([{ requests: { cpu: "100m" }, limits: { cpu: "99m" } }]),
    ["minimum cpu usage per Container is 100m, but limit is 99m"],
  ],
  [
    "a container above the maximum",
    { type: "Container", max: { cpu: "1", memory: "1Gi" } },
    aPod([{ limits: { cpu: "1.5" } }, { limits: { cpu: "1", memory: "1Gi" }, requests: { memory: "2Gi" } }]),
    [
      "maximum cpu usage per Container is 1, but limit is 1500m",
      "maximum memory usage per Container is 1Gi.  No limit is specified",
      "maximum memory usage per Container is 1Gi, but request is 2Gi",
    ],
  ],
  [
    "an init container above the maximum",
    { type: "Container", max: { cpu: "1" } },
    aPod([{ limits: { cpu: "1" } }], { initContainers: [{ name: "i", image: "i", resources: { limits: { cpu: "2" } } }] }),
    ["maximum cpu usage per Container is 1, but limit is 2"],
  ],
  [
    "a limit too far above the request",
    { type: "Container", maxLimitRequestRatio: { cpu: "1500m", memory: "2", storage: "1", "ephemeral-storage": "3" } },
    aPod([
      {
        requests: { cpu: "1", memory: "0", storage: "1", "ephemeral-storage": "1" },
        limits: { cpu: "2", memory: "1", "ephemeral-storage": "3" },
      },
    ]),
    [
      "cpu max limit to request ratio per Container is 1500m, but provided ratio is 2.000000",
      "memory max limit to request ratio per Container is 2, but no request is specified or request is 0",
      "storage max limit to request ratio per Container is 1, but no limit is specified or limit is 0",
    ],
  ],
  [
    "a Pod whose containers together exceed the maximum",
    { type: "Pod", max: { cpu: "1", memory: "2Gi" }, min: { memory: "1Gi" } },
    aPod([{ limits: { cpu: "600m" } }, { limits: { cpu: "600m", memory: "512Mi" }, requests: { memory: "512Mi" } }]),
    ["minimum memory usage per Pod is 1Gi, but request is 512Mi", "maximum cpu usage per Pod is 1, but limit is 1200m"],
  ],
  [
    "a Pod with an init container larger than the others together",
    { type: "Pod", max: { cpu: "1" } },
    aPod([{ limits: { cpu: "600m" } }], { initContainers: [{ name: "i", image: "i", resources: { limits: { cpu: "2" } } }] }),
    ["maximum cpu usage per Pod is 1, but limit is 2"],
  ],
  [
    "a Pod with Pod-level resources",
    { type: "Pod", max: { cpu: "1" } },
    aPod([{}], { resources: { limits: { cpu: "2" } } }),
    ["maximum cpu usage per Pod is 1, but limit is 2"],
  ],
  [
    "a Pod without what is limited",
    { type: "Pod", max: { cpu: "1" } },
    aPod([{}]),
    ["maximum cpu usage per Pod is 1.  No limit is specified"],
  ],
  [
    "amounts that are equal, however written",
    { type: "Container", max: { cpu: "1" }, min: { cpu: "1000m" } },
    aPod([{ requests: { cpu: "1" }, limits: { cpu: "1000m" } }]),
    [],
  ],
  ["a range for claims", { type: "PersistentVolumeClaim", max: { storage: "1" } }, aPod([{}]), []],
];

for (const [what, item, pod, sentences] of VIOLATIONS) {
  test(`LimitRanger reports ${what} with upstream's message`, () => assert.deepEqual(podViolations(aRange(item), pod), sentences));
}

test("LimitRanger applies claim limits to the requested storage", () => {
  const range = aRange({ type: "PersistentVolumeClaim", min: { storage: "1Gi" }, max: { storage: "2Gi" } });
  const claim = (requests: List) => ({ spec: { resources: { requests } } }) as PersistentVolumeClaim;

  assert.deepEqual(claimViolations(range, claim({ storage: "3Gi" })), [
    "maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi",
  ]);
  assert.deepEqual(claimViolations(range, claim({})), [
    "minimum storage usage per PersistentVolumeClaim is 1Gi.  No request is specified",
    "maximum storage usage per PersistentVolumeClaim is 2Gi.  No request is specified",
  ]);
  assert.deepEqual(claimViolations(range, claim({ storage: "2Gi" })), []);
});

test("LimitRanger defaults missing requests and limits and lists them in the Pod's annotation", () => {
  const range = aRange({ type: "Container", default: { cpu: "1", memory: "1Gi" }, defaultRequest: { memory: "512Mi", cpu: "100m" } });
  const pod = aPod([{}, { requests: { cpu: "1" }, limits: { cpu: "2", memory: "2Gi" } }], { initContainers: [{ name: "i", image: "i" }] });

  const filled = withDefaults(pod, range);
  const { metadata, spec } = filled;

  assert.equal(
    metadata.annotations?.["kubernetes.io/limit-ranger"],
    "LimitRanger plugin set: cpu, memory request for container c1; cpu, memory limit for container c1; memory request for container c2; cpu, memory request for init container i; cpu, memory limit for init container i",
  );
  const all = { requests: { memory: "512Mi", cpu: "100m" }, limits: { cpu: "1", memory: "1Gi" } };
  assert.deepEqual(
    [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].map(({ resources }) => resources),
    [all, { requests: { cpu: "1", memory: "512Mi" }, limits: { cpu: "2", memory: "2Gi" } }, all],
  );
  assert.equal(withDefaults(filled, range), filled);
});

const NAMESPACE = "/api/v1/namespaces/default";

async function withRange(limits: readonly JsonObject[]): Promise<StartedServer> {
  const server = await startServer({ config: { admission: { ...DEFAULT_ADMISSION_CONFIG, disabledPlugins: ["ServiceAccount"] } } });
  const made = await server.call("POST", `${NAMESPACE}/limitranges`, { metadata: { name: "l" }, spec: { limits } });
  assert.equal(made.code, 201, made.text);
  return server;
}

function create(server: StartedServer, resources: JsonObject, name = "p") {
  return server.call("POST", `${NAMESPACE}/pods`, { metadata: { name }, spec: { containers: [{ name: "c", image: "i", resources }] } });
}

test("LimitRanger defaults and validates a Pod on create and on resize, but not on other updates", async () => {
  await using server = await withRange([{ type: "Container", max: { cpu: "1" }, defaultRequest: { cpu: "100m" } }]);

  const filled = await create(server, {});
  assert.deepEqual(filled.body.spec.containers[0].resources, { limits: { cpu: "1" }, requests: { cpu: "100m" } });
  const refused = await create(server, { limits: { cpu: "2" } }, "q");
  assert.deepEqual(
    [refused.code, refused.body.message],
    [403, 'pods "q" is forbidden: maximum cpu usage per Container is 1, but limit is 2'],
  );
  const patch = (path: string, body: JsonObject) =>
    server.call("PATCH", `${NAMESPACE}/pods/p${path}`, body, { "content-type": "application/strategic-merge-patch+json" });
  await server.call("DELETE", `${NAMESPACE}/limitranges/l`);
  await server.call("POST", `${NAMESPACE}/limitranges`, {
    metadata: { name: "l" },
    spec: { limits: [{ type: "Container", min: { cpu: "200m" } }] },
  });
  assert.equal((await patch("", { metadata: { labels: { a: "b" } } })).code, 200);
  const resized = await patch("/resize", { spec: { containers: [{ name: "c", resources: { requests: { cpu: "150m" } } }] } });
  assert.deepEqual(
    [resized.code, resized.body.message],
    [403, 'pods "p" is forbidden: minimum cpu usage per Container is 200m, but request is 150m'],
  );
});

test("LimitRanger validates a claim on every write except while it is being deleted", async () => {
  await using server = await withRange([{ type: "PersistentVolumeClaim", max: { storage: "1Gi" } }]);
  const claims = `${NAMESPACE}/persistentvolumeclaims`;
  const aClaim = (storage: string) => ({
    metadata: { name: "p", finalizers: ["example.org/kept"] },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } } },
  });
  const label = () =>
    server.call("PATCH", `${claims}/p`, { metadata: { labels: { a: "b" } } }, { "content-type": "application/merge-patch+json" });

  assert.equal((await server.call("POST", claims, aClaim("2Gi"))).code, 403);
  assert.equal((await server.call("POST", claims, aClaim("1Gi"))).code, 201);
  await server.call("DELETE", `${NAMESPACE}/limitranges/l`);
  const limits = [{ type: "PersistentVolumeClaim", min: { storage: "2Gi" } }];
  await server.call("POST", `${NAMESPACE}/limitranges`, { metadata: { name: "l" }, spec: { limits } });
  assert.equal((await label()).code, 403);
  await server.call("DELETE", `${claims}/p`);
  assert.equal((await label()).code, 200);
});
