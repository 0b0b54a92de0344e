/**
 * Circumventing read rules: a user who may get one Secret by its name, or only list, or only delete, tries everything else that would
 * reveal or remove others. Audits of real clusters find these rules taken for more, or for less, than they are.
 */
import { deepEqual, equal, ok } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { User } from "../../src/apiserver/framework/request.ts";
import type { StartedServer } from "../../src/apiserver/testing/server.ts";
import { writeContinueToken } from "../../src/apiserver/verbs/continue-token.ts";
import { allow, attempt, grant, make, mustBeRefused, startEscapeServer, TREASURE, type Rule, type Sent } from "./cluster.ts";

const SECRETS = "/api/v1/namespaces/own/secrets";
const POD = "/api/v1/namespaces/own/pods/web";
const NAMED = `${SECRETS}?fieldSelector=metadata.name%3D`;
const DRY = "?dryRun=All";
const POD_SPEC = { containers: [{ name: "c", image: "i" }] };

let server: StartedServer;

before(async () => {
  server = await startEscapeServer();
  await make(server, "/api/v1/namespaces/own/pods", { metadata: { name: "web" }, spec: POD_SPEC });
  const labels = { app: "web" };
  const template = { metadata: { labels }, spec: POD_SPEC };
  await make(server, "/apis/apps/v1/namespaces/own/deployments", {
    metadata: { name: "web" },
    spec: { selector: { matchLabels: labels }, template },
  });
});
after(() => server[Symbol.asyncDispose]());

function as(accept: string): { readonly accept: string } {
  return { accept };
}

interface Guard {
  readonly title: string;
  /** In the namespace "own". */
  readonly rules: readonly Rule[];
  /** Allowed requests, so that a mistake in the test does not cause the rejections. */
  readonly allowed: readonly Sent[];
  readonly refused: readonly Sent[];
}

const GUARDS: readonly Guard[] = [
  {
    title: "get with a resource name shows no other object, in any format",
    rules: [allow("get", "secrets", "open")],
    allowed: [["GET", `${SECRETS}/open`]],
    refused: [
      ["GET", SECRETS],
      ["GET", `${SECRETS}/treasure`],
      ["GET", `${SECRETS}/treasure`, undefined, as("application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1")],
      ["GET", `${SECRETS}/treasure`, undefined, as("application/json;as=Table;g=meta.k8s.io;v=v1")],
      ["GET", `${SECRETS}/treasure`, undefined, as("application/vnd.kubernetes.protobuf")],
      ["GET", `${SECRETS}/treasure`, undefined, as("application/yaml")],
      ["GET", `${SECRETS}/treasure`, undefined, as("text/of-no-kind")],
      ["HEAD", `${SECRETS}/treasure`],
      ["GET", SECRETS, undefined, as("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1")],
      ["GET", SECRETS, undefined, as("application/json;as=Table;g=meta.k8s.io;v=v1")],
      ["GET", `${SECRETS}?watch=true`],
      ["GET", `${SECRETS}?watch`],
      ["GET", `${SECRETS}?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan`],
      ["GET", `${NAMED}open`],
      ["GET", `${NAMED}open&watch=1`],
      ["GET", "/api/v1/watch/namespaces/own/secrets/open"],
      ["GET", "/api/v1/secrets?fieldSelector=metadata.name%3Dopen,metadata.namespace%3Down"],
      ["GET", `${SECRETS}?limit=1`],
      ["GET", `${SECRETS}/open/status`],
      ["PATCH", `${SECRETS}/open`, {}],
      ["PATCH", `${SECRETS}/open${DRY}`, {}],
      ["PUT", `${SECRETS}/open${DRY}`, { metadata: { name: "open" } }],
      ["DELETE", `${SECRETS}/open${DRY}`],
    ],
  },
  {
    title: "list with a resource name lists only that object",
    rules: [allow("list", "secrets", "open")],
    allowed: [
      ["GET", `${NAMED}open`],
      ["GET", `${NAMED}open,type%3DOpaque`],
    ],
    refused: [
      ["GET", SECRETS],
      ["GET", `${NAMED}treasure`],
      ["GET", `${NAMED}treasure,metadata.name%3Dtreasure`],
      ["GET", `${SECRETS}?fieldSelector=metadata.name%21%3Dopen`],
      ["GET", `${SECRETS}?fieldSelector=metadata.namespace%3Down`],
      ["GET", `${SECRETS}?fieldSelector=type%3Dmetadata.name%5C%3Dopen`],
      ["GET", `${SECRETS}?labelSelector=metadata.name%3Dopen`],
      ["GET", `${SECRETS}?fieldSelector=`],
      ["GET", `${NAMED}open&watch=true`],
      ["GET", `${SECRETS}?fieldselector=metadata.name%3Dopen`],
      ["GET", `${SECRETS}?fieldSelector=metadata.name%3D&fieldSelector=metadata.name%3Dopen`],
      ["GET", "/api/v1/secrets?fieldSelector=metadata.name%3Dopen"],
      ["GET", `${SECRETS}/open`],
      ["DELETE", `${NAMED}open`],
    ],
  },
  {
    title: "list alone implies neither watch nor get",
    rules: [allow("list", "secrets")],
    allowed: [["GET", SECRETS]],
    refused: [
      ["GET", `${SECRETS}?watch=true`],
      ["GET", `${SECRETS}?watch=1&watch=0`],
      ["GET", `${SECRETS}?watch=yes`],
      ["GET", "/api/v1/watch/namespaces/own/secrets"],
      ["GET", "/api/v1/watch/namespaces/own/secrets/treasure"],
      ["GET", `${SECRETS}/treasure`],
      ["GET", "/api/v1/secrets"],
      ["GET", "/api/v1/namespaces/victim/secrets"],
    ],
  },
  {
    title: "delete does not imply deletecollection, and with a resource name not deletion of others",
    rules: [allow("delete", "secrets", "open")],
    allowed: [["DELETE", `${SECRETS}/open${DRY}`]],
    refused: [
      ["DELETE", SECRETS],
      ["DELETE", `${NAMED}open`],
      ["DELETE", `${SECRETS}/`],
      ["DELETE", `${SECRETS}/treasure`],
      ["DELETE", `${SECRETS}/treasure${DRY}`],
      ["GET", `${SECRETS}/open`],
    ],
  },
  {
    title: "a rule with resource names does not allow create, and update does not imply create",
    rules: [allow("create", "secrets", "new"), allow("update,patch", "secrets"), allow("update,patch", "roles.rbac.authorization.k8s.io")],
    allowed: [["PATCH", `${SECRETS}/open${DRY}`, {}]],
    refused: [
      ["POST", SECRETS, { metadata: { name: "new" } }],
      ["POST", `${SECRETS}${DRY}`, { metadata: { name: "new" } }],
      ["POST", SECRETS, { metadata: { generateName: "new" } }],
      ["PUT", `/apis/rbac.authorization.k8s.io/v1/namespaces/own/roles/new`, { metadata: { name: "new" }, rules: [] }],
      ["PATCH", `${SECRETS}/other?fieldManager=x`, "{}", { "content-type": "application/apply-patch+yaml" }],
    ],
  },
  {
    title: "permission for an object does not cover its subresources, and wildcards match exactly",
    rules: [
      allow("*", "pods"),
      allow("*", "pods/*"),
      allow("*", "*/scale.apps"),
      { verbs: ["GET", "List"], apiGroups: [""], resources: ["secrets"] },
    ],
    allowed: [
      ["GET", POD],
      ["GET", "/apis/apps/v1/namespaces/own/deployments/web/scale"],
    ],
    refused: [
      ["GET", `${POD}/log`],
      ["POST", `${POD}/exec?command=sh`],
      ["GET", `${POD}/exec?command=sh`],
      ["POST", `${POD}/attach`],
      ["POST", `${POD}/portforward`],
      ["GET", `${POD}/proxy/`],
      ["POST", `${POD}/eviction`, {}],
      ["POST", `${POD}/binding`, { target: { name: "n1" } }],
      ["PATCH", `${POD}/status`, {}],
      ["PATCH", `${POD}/ephemeralcontainers`, {}],
      ["PATCH", `${POD}/resize`, {}],
      ["GET", "/apis/apps/v1/namespaces/own/deployments/web"],
      ["PATCH", "/apis/apps/v1/namespaces/own/deployments/web", {}],
      ["GET", "/apis/apps/v1/namespaces/own/deployments/web/status"],
      ["GET", `${SECRETS}/treasure`],
      ["GET", SECRETS],
      ["POST", "/api/v1/namespaces/own/bindings", { metadata: { name: "web" }, target: { name: "n1" } }],
    ],
  },
  {
    title: "permissions in another API group do not apply",
    rules: [{ verbs: ["*"], apiGroups: ["apps", "example.com"], resources: ["*"] }],
    allowed: [["GET", "/apis/apps/v1/namespaces/own/deployments/web"]],
    refused: [
      ["GET", `${SECRETS}/treasure`],
      ["GET", "/apis/apps/v1/../../api/v1/namespaces/own/secrets"],
      ["GET", "/apis/events.k8s.io/v1/namespaces/own/events"],
      ["GET", "/apis/rbac.authorization.k8s.io/v1/namespaces/own/roles"],
    ],
  },
];

for (const [index, { title, rules, allowed, refused }] of GUARDS.entries()) {
  describe(title, () => {
    const user: User = { name: `reader-${index}`, groups: [] };
    before(() => grant(server, user, "own", rules));
    for (const sends of allowed) {
      test(`${sends[0]} ${sends[1]} is allowed`, async () => {
        const { code, text } = await attempt(server, user, sends);
        ok(code < 300, text);
        ok(sends[1] === SECRETS || !text.includes(btoa(TREASURE)), text);
      });
    }
    for (const sends of refused) {
      const form = sends[3]?.["accept"] === undefined ? "" : ` as ${String(sends[3]["accept"])}`;
      test(`${sends[0]} ${sends[1]}${form} is rejected`, () => mustBeRefused(server, user, { sends, gets: 403 }));
    }
  });
}

describe("a continue token stays within its list, whatever it contains", () => {
  const lister: User = { name: "lister", groups: [] };
  before(() => grant(server, lister, "own", [allow("list", "secrets")]));
  for (const startAfter of [
    "victim/",
    "victim/a",
    "a",
    "../victim/a",
    "/registry/secrets/victim/a",
    "own/../victim/a",
    "\0",
    "zz/../../victim/a",
  ]) {
    test(JSON.stringify(startAfter), async () => {
      const token = writeContinueToken({ revision: undefined, startAfter });
      const { code, text } = await attempt(server, lister, ["GET", `${SECRETS}?limit=10&continue=${encodeURIComponent(token)}`]);
      ok(code === 200 || code === 400, text);
      ok(!text.includes('"namespace":"victim"'), text);
    });
  }
});

describe("a subresource changes only its own fields", () => {
  const keeper: User = { name: "keeper", groups: [] };
  const DEPLOYMENT = "/apis/apps/v1/namespaces/own/deployments/web";
  before(() => grant(server, keeper, "own", [allow("*", "pods/status"), allow("*", "deployments/status.apps"), allow("*", "pods")]));

  test("pods/status does not change the spec", async () => {
    const { code, body } = await attempt(server, keeper, [
      "PATCH",
      `${POD}/status`,
      { spec: { containers: [{ name: "c", image: "evil" }], nodeName: "n1" } },
    ]);
    deepEqual([code, body.spec.containers[0].image, body.spec.nodeName], [200, "i", undefined]);
  });
  test("deployments/status does not change the spec", async () => {
    const { code, body } = await attempt(server, keeper, ["PATCH", `${DEPLOYMENT}/status`, { spec: { replicas: 99 } }]);
    deepEqual([code, body.spec.replicas], [200, 1]);
  });
  test("an update of the object does not change the status", async () => {
    const { code, body } = await attempt(server, keeper, [
      "PATCH",
      POD,
      { metadata: { labels: { a: "b" } }, status: { podIP: "192.0.2.1" } },
    ]);
    deepEqual([code, body.status.podIP], [200, undefined]);
  });
});

test("a patch reveals nothing about an unreadable object: the test operation of a JSON patch requires the verb patch", async () => {
  const body = [{ op: "test", path: "/data/key", value: btoa(TREASURE) }];
  const sends = ["PATCH", `${SECRETS}/treasure`, body, { "content-type": "application/json-patch+json" }] as const;
  await mustBeRefused(server, { name: "unprivileged", groups: [] }, { sends, gets: 403 });
});

describe("anonymous and authenticated users without permissions may do nothing with any resource", () => {
  const ALLOWED_TO_ALL = ["selfsubjectaccessreviews", "selfsubjectrulesreviews", "selfsubjectreviews"];
  const unprivileged: User = { name: "unprivileged", groups: [] };
  const anonymous: User = { name: "system:anonymous", groups: ["system:unauthenticated"] };
  const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"];

  for (const user of [unprivileged, anonymous]) {
    test(user.name, async () => {
      const wrong: string[] = [];
      for (const { served, resource } of server.server.endpoints.all()) {
        const { group, version } = served;
        const { plural } = resource;
        const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
        const place = resource.scope === "Namespaced" ? `${root}/namespaces/own/${plural}` : `${root}/${plural}`;
        const paths = [`${root}/${plural}`, place, `${place}/x`, ...Object.keys(resource.subresources).map((name) => `${place}/x/${name}`)];
        for (const path of new Set(paths)) {
          for (const method of METHODS) {
            const { code } = await attempt(server, user, [method, path, method === "GET" || method === "HEAD" ? undefined : {}]);
            const isOwnReview = user === unprivileged && method === "POST" && ALLOWED_TO_ALL.includes(plural);
            if (code !== 403 && !isOwnReview) wrong.push(`${method} ${path}: ${code}`);
          }
        }
      }
      deepEqual(wrong, []);
    });
  }

  for (const path of [
    ...[
      "/metrics",
      "/metrics/",
      "/METRICS",
      "/%6detrics",
      "//metrics",
      "/healthz/../metrics",
      "/healthz%2f..%2fmetrics",
      "/version/../metrics",
    ],
    ...[
      "/logs",
      "/logs/",
      "/debug/pprof",
      "/debug/pprof/heap",
      "/configz",
      "/swagger.json",
      "/flagz",
      "/statusz",
      "/healthz/etcd",
      "/readyz/ping",
    ],
    ...[
      "/api",
      "/apis",
      "/apis/apps",
      "/api/v1",
      "/openapi/v2",
      "/openapi/v3",
      "/",
      "/.well-known/openid-configuration",
      "/openid/v1/jwks",
    ],
    ...["/.well-known/../api", "/index.html", "/static/..%2f..%2fetc%2fpasswd", "/ui", "*"],
  ]) {
    test(`anonymous may not read ${path}`, async () => {
      for (const method of ["GET", "HEAD", "POST", "DELETE"]) equal((await attempt(server, anonymous, [method, path])).code, 403, method);
    });
  }
  for (const path of ["/healthz", "/livez", "/readyz", "/version"]) {
    test(`anonymous may only read ${path}`, async () => {
      equal((await attempt(server, anonymous, ["GET", path])).code, 200);
      for (const method of ["POST", "PUT", "DELETE"]) equal((await attempt(server, anonymous, [method, path])).code, 403, method);
    });
  }
  test("a rule for all paths below a prefix does not match outside of it", async () => {
    const walker: User = { name: "walker", groups: [] };
    await grant(server, walker, "", [{ verbs: ["get"], nonResourceURLs: ["/healthz/*"] }]);
    for (const path of ["/healthz/../metrics", "/healthz/%2e%2e/metrics", "/healthz/..%2fmetrics"]) {
      const { code, text } = await attempt(server, walker, ["GET", path]);
      deepEqual([code, text.includes("apiserver_")], [404, false]);
    }
  });
});
