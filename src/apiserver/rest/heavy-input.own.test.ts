/**
 * No request blocks others: whatever list or map a client makes long, the work grows linearly with its length, not quadratically. Each row
 * is sent as a body of some size and, if that is not fast anyway, as one of a quarter of it: four times the body may cost about four times
 * the work; quadratic work would cost sixteen times. Work is CPU time, the minimum of several runs. Times are compared in the full form
 * only, on an otherwise idle machine; the quick form checks that the server answers every row as expected, so that the full form measures
 * the intended work.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../api/machinery/object.ts";
import { rounds } from "../../testing/rounds.ts";
import { startServer } from "../testing/server.ts";

/** The maximum body size is 3 MiB. */
const BODY_BYTES = rounds({ quick: 256 * 1024, full: 2 * 1024 * 1024 });
/** For objects that are stored first: the store accepts 1.5 MB, and defaults and managedFields add to what is sent. */
const CHANGED_BYTES_MAX = 192 * 1024;
/** Work below this time does not block others, whatever its growth; and shorter times cannot be compared. */
const QUICK_MS = 300;
/** Between 4 for linear work, with the overhead of memory and sorting, and 16 for quadratic work. */
const GROWTH_MAX = 10;
const RUNS = 3;

interface Request {
  readonly method: string;
  readonly path: string;
  readonly body: JsonObject | readonly unknown[] | string;
  readonly type?: string;
}

interface Row {
  readonly it: string;
  /** Or 413, if the result was too large for the store. */
  readonly code: number;
  /** The requests for a number of items. The last is measured, those before it prepare what it needs. */
  requests(count: number): readonly [...Request[], Request];
}

const MAPS = "/api/v1/namespaces/default/configmaps";
const PODS = "/api/v1/namespaces/default/pods";
const JSON_PATCH = "application/json-patch+json";
const MERGE = "application/merge-patch+json";
const STRATEGIC = "application/strategic-merge-patch+json";
const APPLY = "application/apply-patch+yaml";

function list<T>(count: number, item: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => item(index));
}

function map<T>(count: number, name: (index: number) => string, value: (index: number) => T): Record<string, T> {
  return Object.fromEntries(list(count, (index) => [name(index), value(index)]));
}

function post(path: string, body: Request["body"], type?: string): Request {
  return { method: "POST", path, body, ...(type === undefined ? {} : { type }) };
}

function patch(path: string, body: Request["body"], type: string): Request {
  return { method: "PATCH", path, body, type };
}

function configMap(metadata: JsonObject, rest: JsonObject = {}): JsonObject {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", ...metadata }, ...rest };
}

function pod(spec: JsonObject, metadata: JsonObject = {}): JsonObject {
  return { metadata: { name: "a", ...metadata }, spec: { containers: [{ name: "c", image: "i" }], ...spec } };
}

function container(rest: JsonObject): JsonObject {
  return { containers: [{ name: "c", image: "i", ...rest }] };
}

function owner(index: number, operation: "Apply" | "Update"): JsonObject {
  const fieldsV1 = { "f:data": { [`f:k${index}`]: {} } };
  return { manager: `m${index}`, operation, apiVersion: "v1", time: "2026-01-01T00:00:00Z", fieldsType: "FieldsV1", fieldsV1 };
}

function reference(name: string, uid: string): JsonObject {
  return { apiVersion: "v1", kind: "Pod", name, uid };
}

const metadataRows: readonly Row[] = [
  { it: "labels", code: 201, requests: (n) => [post(MAPS, configMap({ labels: map(n, (i) => `l${i}`, String) }))] },
  {
    it: "annotations",
    code: BODY_BYTES > 1024 * 1024 ? 422 : 201,
    requests: (n) => [post(MAPS, configMap({ annotations: map(n, (i) => `l${i}`, String) }))],
  },
  { it: "finalizers", code: 201, requests: (n) => [post(MAPS, configMap({ finalizers: list(n, (i) => `a.b/f${i}`) }))] },
  { it: "a repeated finalizer", code: 201, requests: (n) => [post(MAPS, configMap({ finalizers: list(n, () => "a.b/f") }))] },
  { it: "owners", code: 201, requests: (n) => [post(MAPS, configMap({ ownerReferences: list(n, (i) => reference("a", `u${i}`)) }))] },
  {
    it: "a repeated owner reference",
    code: 201,
    requests: (n) => [post(MAPS, configMap({ ownerReferences: list(n, () => reference("a", "u")) }))],
  },
  {
    it: "owner references with one uid",
    code: 201,
    requests: (n) => [post(MAPS, configMap({ ownerReferences: list(n, (i) => reference(`a${i}`, "u")) }))],
  },
  {
    it: "field managers of updates",
    code: 201,
    requests: (n) => [post(MAPS, configMap({ managedFields: list(n, (i) => owner(i, "Update")) }))],
  },
  {
    it: "field managers of applies, and an apply over them",
    code: 200,
    requests: (n) => [
      post(MAPS, configMap({ managedFields: list(n, (i) => owner(i, "Apply")) })),
      patch(`${MAPS}/a?fieldManager=m0`, configMap({}, { data: { x: "y" } }), APPLY),
    ],
  },
  { it: "data", code: 201, requests: (n) => [post(MAPS, configMap({}, { data: map(n, (i) => `k${i}`, String) }))] },
  {
    it: "data in YAML",
    code: 201,
    requests: (n) => [post(MAPS, `metadata:\n  name: a\ndata:\n${list(n, (i) => `  k${i}: "${i}"\n`).join("")}`, "application/yaml")],
  },
  {
    it: "duplicate fields",
    code: 400,
    requests: (n) => [post(`${MAPS}?fieldValidation=Strict`, `{"metadata":{"name":"a"},${list(n, () => '"data":{}').join(",")}}`)],
  },
  {
    it: "unknown fields",
    code: 400,
    requests: (n) => [
      post(
        `${MAPS}?fieldValidation=Strict`,
        configMap(
          {},
          map(n, (i) => `x${i}`, String),
        ),
      ),
    ],
  },
];

const patchRows: readonly Row[] = [
  {
    it: "a merge patch of labels",
    code: 200,
    requests: (n) => [
      post(MAPS, configMap({ labels: map(n, (i) => `l${i}`, String) })),
      patch(`${MAPS}/a`, { metadata: { labels: map(n, (i) => `l${i * 2}`, String) } }, MERGE),
    ],
  },
  {
    it: "a strategic patch of finalizers, in reverse",
    code: 200,
    requests: (n) => [
      post(MAPS, configMap({ finalizers: list(n, (i) => `a.b/f${i}`) })),
      patch(`${MAPS}/a`, { metadata: { finalizers: list(n, (i) => `a.b/f${n + 10 - i}`) } }, STRATEGIC),
    ],
  },
  {
    it: "a strategic patch of containers with their order",
    code: 200,
    requests: (n) => {
      const names = list(n, (i) => ({ name: `c${i}`, image: "i" }));
      const order = { containers: names, "$setElementOrder/containers": names.map(({ name }) => ({ name })) };
      const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } };
      const deployments = "/apis/apps/v1/namespaces/default/deployments";
      return [
        post(deployments, { metadata: { name: "a" }, spec: { selector: { matchLabels: { a: "b" } }, template } }),
        patch(`${deployments}/a`, { spec: { template: { spec: order } } }, STRATEGIC),
      ];
    },
  },
  {
    it: "a JSON patch of many operations",
    code: 200,
    requests: (n) => [
      post(MAPS, configMap({}, { data: { x: "y" } })),
      patch(
        `${MAPS}/a`,
        list(n, (i) => ({ op: "add", path: `/data/k${i}`, value: "a value" })),
        JSON_PATCH,
      ),
    ],
  },
  {
    it: "a JSON patch that prepends items to a long list",
    code: 413,
    requests: (n) => [
      post(MAPS, configMap({})),
      patch(
        `${MAPS}/a`,
        [
          { op: "add", path: "/metadata/finalizers", value: list(n, () => 1) },
          ...list(9_000, () => ({ op: "add", path: "/metadata/finalizers/0", value: 1 })),
        ],
        JSON_PATCH,
      ),
    ],
  },
  {
    it: "an apply of labels over those of another manager",
    code: 200,
    requests: (n) => [
      post(MAPS, configMap({ labels: map(n, (i) => `l${i}`, String) })),
      patch(
        `${MAPS}/a?fieldManager=m&force=true`,
        configMap({
          labels: map(
            n,
            (i) => `l${i}`,
            () => "x",
          ),
        }),
        APPLY,
      ),
    ],
  },
  {
    it: "an apply of labels that conflict",
    code: 409,
    requests: (n) => [
      post(MAPS, configMap({ labels: map(n, (i) => `l${i}`, String) })),
      patch(
        `${MAPS}/a?fieldManager=m`,
        configMap({
          labels: map(
            n,
            (i) => `l${i}`,
            () => "x",
          ),
        }),
        APPLY,
      ),
    ],
  },
  {
    it: "an apply of finalizers, in reverse",
    code: 200,
    requests: (n) => [
      post(MAPS, configMap({ finalizers: list(n, (i) => `a.b/f${i}`) })),
      patch(`${MAPS}/a?fieldManager=m`, configMap({ finalizers: list(n, (i) => `a.b/f${n - i}`) }), APPLY),
    ],
  },
];

const podRows: readonly Row[] = [
  { it: "containers", code: 201, requests: (n) => [post(PODS, pod({ containers: list(n, (i) => ({ name: `c${i}`, image: "i" })) }))] },
  {
    it: "containers of one name",
    code: 422,
    requests: (n) => [post(PODS, pod({ containers: list(n, () => ({ name: "c", image: "i" })) }))],
  },
  { it: "variables", code: 201, requests: (n) => [post(PODS, pod(container({ env: list(n, (i) => ({ name: `V${i}`, value: "x" })) })))] },
  {
    it: "a repeated environment variable",
    code: 201,
    requests: (n) => [post(PODS, pod(container({ env: list(n, () => ({ name: "V" })) })))],
  },
  {
    it: "different host ports",
    code: 201,
    requests: (n) => [
      post(
        PODS,
        pod(container({ ports: list(n, (i) => ({ containerPort: 80, hostPort: 1 + (i % 60_000), hostIP: `10.0.${i >> 16}.1` })) })),
      ),
    ],
  },
  {
    it: "a repeated port",
    code: 201,
    requests: (n) => [post(PODS, pod(container({ ports: list(n, () => ({ containerPort: 80 })) })))],
  },
  {
    it: "volumes and mounts",
    code: 201,
    requests: (n) => [
      post(
        PODS,
        pod({
          ...container({ volumeMounts: list(n, (i) => ({ name: `v${i}`, mountPath: `/m${i}` })) }),
          volumes: list(n, (i) => ({ name: `v${i}`, emptyDir: {} })),
        }),
      ),
    ],
  },
  {
    it: "paths of a volume",
    code: 201,
    requests: (n) => {
      const items = list(n, (i) => ({ key: "k", path: `p${i}` }));
      return [post(PODS, pod({ volumes: [{ name: "v", projected: { sources: [{ configMap: { name: "m", items } }] } }] }))];
    },
  },
  {
    it: "limits",
    code: 201,
    requests: (n) => [
      post(
        PODS,
        pod(
          container({
            resources: {
              limits: map(
                n,
                (i) => `a.b/r${i}`,
                () => "1",
              ),
            },
          }),
        ),
      ),
    ],
  },
  {
    it: "init containers beside a sidecar with many requests",
    code: 201,
    requests: (n) => {
      const requests = map(
        n,
        (i) => `a.b/r${i}`,
        () => "1",
      );
      const sidecar = { name: "s", image: "i", restartPolicy: "Always", resources: { limits: requests } };
      const initContainers = [sidecar, ...list(n, (i) => ({ name: `c${i}`, image: "i" }))];
      return [post(PODS, pod({ initContainers, resources: { limits: { cpu: "1" } } }))];
    },
  },
  {
    it: "undeclared resource claims",
    code: 422,
    requests: (n) => {
      const resourceClaims = list(n, (i) => ({ name: `c${i}`, resourceClaimName: "x" }));
      return [post(PODS, pod({ ...container({ resources: { claims: list(n, (i) => ({ name: `d${i}` })) } }), resourceClaims }))];
    },
  },
  { it: "pull secrets", code: 201, requests: (n) => [post(PODS, pod({ imagePullSecrets: list(n, (i) => ({ name: `s${i}` })) }))] },
  {
    it: "a repeated pull secret",
    code: 201,
    requests: (n) => [post(PODS, pod({ imagePullSecrets: list(n, () => ({ name: "s" })) }))],
  },
  {
    it: "host aliases",
    code: 201,
    requests: (n) => [
      post(PODS, pod({ hostAliases: list(n, (i) => ({ ip: `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`, hostnames: ["h"] })) })),
    ],
  },
  {
    it: "topology spread constraints",
    code: 201,
    requests: (n) => {
      const rule = (i: number): JsonObject => ({ maxSkew: 1, topologyKey: `k${i}`, whenUnsatisfiable: "DoNotSchedule", labelSelector: {} });
      return [post(PODS, pod({ topologySpreadConstraints: list(n, rule) }))];
    },
  },
  {
    it: "tolerations added to existing ones",
    code: 200,
    requests: (n) => {
      const tolerations = list(n, (i) => ({ key: `k${i}`, operator: "Exists", effect: "NoExecute" }));
      return [
        post(PODS, pod({ tolerations })),
        patch(`${PODS}/a`, { spec: { tolerations: [...tolerations.toReversed(), { key: "x", operator: "Exists" }] } }, MERGE),
      ];
    },
  },
  {
    it: "AppArmor profiles by annotation",
    code: 201,
    requests: (n) => {
      const few = Math.min(n, 3_000);
      const annotations = map(
        few,
        (i) => `container.apparmor.security.beta.kubernetes.io/c${i}`,
        () => "unconfined",
      );
      return [post(PODS, pod({ containers: list(n, (i) => ({ name: `c${i}`, image: "i" })) }, { annotations }))];
    },
  },
  {
    it: "conditions in two status updates",
    code: 200,
    requests: (n) => {
      const status = { conditions: list(n, (i) => ({ type: `a.b/t${i}`, status: "True" })) };
      return [post(PODS, pod({})), patch(`${PODS}/a/status`, { status }, MERGE), patch(`${PODS}/a/status`, { status }, STRATEGIC)];
    },
  },
  {
    it: "container statuses, terminated before",
    code: 200,
    requests: (n) => {
      const states = (state: JsonObject): JsonObject => ({
        status: { containerStatuses: list(n, (i) => ({ name: `c${i}`, image: "i", imageID: "", ready: true, restartCount: 0, state })) },
      });
      return [
        post(PODS, pod({ containers: list(n, (i) => ({ name: `c${i}`, image: "i" })) })),
        patch(`${PODS}/a/status`, states({ terminated: { exitCode: 0 } }), MERGE),
        patch(`${PODS}/a/status`, states({ running: {} }), MERGE),
      ];
    },
  },
];

const otherRows: readonly Row[] = [
  {
    it: "ports of a Service",
    code: 201,
    requests: (n) => [
      post("/api/v1/namespaces/default/services", {
        metadata: { name: "a" },
        spec: { ports: list(n, (i) => ({ name: `p${i}`, port: 1 + (i % 60_000) })) },
      }),
    ],
  },
  {
    it: "taints of a Node",
    code: 201,
    requests: (n) => [
      post("/api/v1/nodes", { metadata: { name: "a" }, spec: { taints: list(n, (i) => ({ key: `k${i}`, effect: "NoExecute" })) } }),
    ],
  },
  {
    it: "addresses and images of a Node",
    code: 200,
    requests: (n) => {
      const addresses = list(n, (i) => ({ type: "InternalIP", address: `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}` }));
      return [
        post("/api/v1/nodes", { metadata: { name: "a" } }),
        patch("/api/v1/nodes/a/status", { status: { addresses, images: list(n, (i) => ({ names: [`i${i}`] })) } }, STRATEGIC),
      ];
    },
  },
  {
    it: "metrics of an autoscaler",
    code: 201,
    requests: (n) => {
      const metrics = list(n, (i) => ({
        type: "Pods",
        pods: { metric: { name: `m${i}` }, target: { type: "AverageValue", averageValue: "1" } },
      }));
      const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "a" };
      const path = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
      return [post(path, { metadata: { name: "a" }, spec: { maxReplicas: 3, scaleTargetRef, metrics } })];
    },
  },
];

/** The number of items for which the longest request has about the maximum size. */
function countFor(row: Row): number {
  const lengthAt = (count: number): number => {
    return Math.max(...row.requests(count).map(({ body }) => (typeof body === "string" ? body : JSON.stringify(body)).length));
  };
  const bytes = row.requests(1).length === 1 ? BODY_BYTES : Math.min(BODY_BYTES, CHANGED_BYTES_MAX);
  return Math.floor((bytes * 1_000) / (lengthAt(2_000) - lengthAt(1_000)));
}

/** CPU time of the last request in milliseconds. */
async function cost(row: Row, count: number): Promise<number> {
  await using server = await startServer({ config: { freezeObjects: false } });
  const requests = row.requests(count);
  const send = ({ method, path, body, type }: Request) => {
    return server.call(method, path, typeof body === "string" ? body : JSON.stringify(body), {
      "content-type": type ?? "application/json",
    });
  };
  for (const request of requests.slice(0, -1)) {
    const { code, text } = await send(request);
    assert(code < 300, text.slice(0, 500));
  }
  const before = process.cpuUsage();
  const { code, text } = await send(requests.at(-1) as Request);
  const { user, system } = process.cpuUsage(before);
  assert(code === row.code || code === 413, text.slice(0, 500));
  return (user + system) / 1_000;
}

for (const row of [...metadataRows, ...patchRows, ...podRows, ...otherRows]) {
  test(`the cost of a body with ${row.it} grows linearly`, async () => {
    const count = countFor(row);
    let large = await cost(row, count);
    if (rounds({ quick: 0, full: 1 }) === 0 || large <= QUICK_MS) return;

    let small = Infinity;
    for (let run = 0; run < RUNS; run++) small = Math.min(small, await cost(row, count >> 2));
    // Other load on the machine may slow down one run, but hardly all of them.
    for (let run = 1; run < RUNS && large >= small * GROWTH_MAX; run++) large = Math.min(large, await cost(row, count));

    assert(large <= QUICK_MS || large < small * GROWTH_MAX, `${count} cost ${large} ms, a quarter of them ${small} ms`);
  });
}
