/**
 * Pods that take more than their namespace or their account is meant to give, by a part of the Pod, a subresource or a kind of object
 * that a rule was not asked about. Admission must see the whole Pod, whichever way it comes.
 */
import { equal, match, ok } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { JsonObject } from "../../src/api/machinery/object.ts";
import { DEFAULT_ADMISSION_CONFIG } from "../../src/apiserver/framework/admission-config.ts";
import type { User } from "../../src/apiserver/framework/request.ts";
import type { StartedServer } from "../../src/apiserver/testing/server.ts";
import { attempt, make, startEscapeServer, type Sent } from "./cluster.ts";

const PODS = "/api/v1/namespaces/own/pods";
const ROOT: User = { name: "m", groups: ["system:masters"] };
const STRATEGIC = { "content-type": "application/strategic-merge-patch+json" };

let server: StartedServer;

before(async () => {
  server = await startEscapeServer({ config: { admission: DEFAULT_ADMISSION_CONFIG }, controllers: ["serviceaccount-controller"] });
  const annotations = { "kubernetes.io/enforce-mountable-secrets": "true" };
  await make(server, "/api/v1/namespaces/own/serviceaccounts", { metadata: { name: "strict", annotations }, secrets: [{ name: "open" }] });
  await make(server, PODS, pod("web", { serviceAccountName: "strict" }));
  const labels = { "pod-security.kubernetes.io/enforce": "restricted" };
  await make(server, "/api/v1/namespaces", { metadata: { name: "safe", labels } });
  await make(server, "/api/v1/namespaces/safe/serviceaccounts", { metadata: { name: "app" } });
  await make(server, "/api/v1/namespaces/safe/pods", safePod("web", {}));
});
after(() => server[Symbol.asyncDispose]());

function pod(name: string, spec: JsonObject): JsonObject {
  return { metadata: { name }, spec: { containers: [{ name: "c", image: "i" }], ...spec } };
}

const SAFE = {
  allowPrivilegeEscalation: false,
  runAsNonRoot: true,
  capabilities: { drop: ["ALL"] },
  seccompProfile: { type: "RuntimeDefault" },
};
const SAFE_CONTAINER = { name: "c", image: "i", securityContext: SAFE };

function safePod(name: string, spec: JsonObject): JsonObject {
  return { metadata: { name }, spec: { serviceAccountName: "app", containers: [SAFE_CONTAINER], ...spec } };
}

const FROM = [{ secretRef: { name: "treasure" } }];
const ENV = [{ name: "KEY", valueFrom: { secretKeyRef: { name: "treasure", key: "key" } } }];
const strict = (spec: JsonObject): JsonObject => pod("x", { serviceAccountName: "strict", ...spec });
const container = (more: JsonObject): JsonObject => ({ name: "x", image: "i", ...more });

describe("an account that is held to its list of Secrets uses no other", () => {
  const ATTEMPTS: readonly (readonly [it: string, ...Sent])[] = [
    ["by a volume", "POST", PODS, strict({ volumes: [{ name: "v", secret: { secretName: "treasure" } }] })],
    ["by a variable", "POST", PODS, strict({ containers: [container({ env: ENV })] })],
    ["by all variables at once (CVE-2024-3177)", "POST", PODS, strict({ containers: [container({ envFrom: FROM })] })],
    ["by those of a container that runs before (CVE-2024-3177)", "POST", PODS, strict({ initContainers: [container({ envFrom: FROM })] })],
    ["by a variable of a container that runs before", "POST", PODS, strict({ initContainers: [container({ env: ENV })] })],
    ["by a Secret for pulling images", "POST", PODS, strict({ imagePullSecrets: [{ name: "treasure" }] })],
    [
      "by a container that is added later (CVE-2023-2728)",
      "PATCH",
      `${PODS}/web/ephemeralcontainers`,
      { spec: { ephemeralContainers: [container({ env: ENV })] } },
      STRATEGIC,
    ],
    [
      "by all variables of one that is added later (CVE-2023-2728, CVE-2024-3177)",
      "PATCH",
      `${PODS}/web/ephemeralcontainers`,
      { spec: { ephemeralContainers: [container({ envFrom: FROM })] } },
      STRATEGIC,
    ],
  ];
  for (const [it, ...sends] of ATTEMPTS) {
    test(it, async () => {
      const { code, body } = await attempt(server, ROOT, sends);
      // Of containers that are added later upstream says it as a failure of its own.
      equal(code, sends[0] === "PATCH" ? 500 : 403, body.message);
      match(body.message, /treasure|secret/i);
    });
  }
  test("its own it may use, also in a container that is added later", async () => {
    const env = [{ name: "KEY", valueFrom: { secretKeyRef: { name: "open", key: "key" } } }];
    const { code } = await attempt(server, ROOT, [
      "PATCH",
      `${PODS}/web/ephemeralcontainers`,
      { spec: { ephemeralContainers: [container({ env })] } },
      STRATEGIC,
    ]);
    equal(code, 200);
  });
});

describe("what a Pod was allowed as cannot be changed afterwards", () => {
  const ATTEMPTS: readonly (readonly [it: string, ...Sent])[] = [
    ["its account", "PATCH", `${PODS}/web`, { spec: { serviceAccountName: "default" } }],
    ["its node", "PATCH", `${PODS}/web`, { spec: { nodeName: "n1" } }],
    ["its host's network", "PATCH", `${PODS}/web`, { spec: { hostNetwork: true } }],
    [
      "its container's rights",
      "PATCH",
      `${PODS}/web`,
      { spec: { containers: [{ name: "c", securityContext: { privileged: true } }] } },
      STRATEGIC,
    ],
    ["a container more", "PATCH", `${PODS}/web`, { spec: { containers: [container({})] } }, STRATEGIC],
    [
      "a container that is added later, without its subresource",
      "PATCH",
      `${PODS}/web`,
      { spec: { ephemeralContainers: [container({})] } },
      STRATEGIC,
    ],
    [
      "a container that was added later, changed",
      "PATCH",
      `${PODS}/web/ephemeralcontainers`,
      { spec: { ephemeralContainers: [container({ image: "j" })] } },
      STRATEGIC,
    ],
    ["a container that was added later, taken away", "PATCH", `${PODS}/web/ephemeralcontainers`, { spec: { ephemeralContainers: null } }],
    ["its volumes", "PATCH", `${PODS}/web`, { spec: { volumes: [{ name: "v", hostPath: { path: "/" } }] } }, STRATEGIC],
    [
      "what is not of the resize, by way of it",
      "PATCH",
      `${PODS}/web/resize`,
      { spec: { containers: [{ name: "c", image: "evil" }] } },
      STRATEGIC,
    ],
  ];
  for (const [it, ...sends] of ATTEMPTS) {
    test(it, async () => {
      const before = (await server.call("GET", `${PODS}/web`)).body.spec;
      const { code } = await attempt(server, ROOT, sends);
      const { spec } = (await server.call("GET", `${PODS}/web`)).body;
      ok(code >= 400 || JSON.stringify(spec) === JSON.stringify(before), `${code}`);
    });
  }
  test("containers that are added later stay out of what else the subresource is sent", async () => {
    const { body } = await attempt(server, ROOT, [
      "PATCH",
      `${PODS}/web/ephemeralcontainers`,
      { spec: { hostNetwork: true, containers: [{ name: "c", image: "evil" }] } },
      STRATEGIC,
    ]);
    const { spec } = (await server.call("GET", `${PODS}/web`)).body;
    equal(spec.hostNetwork === true || spec.containers[0].image === "evil", false, JSON.stringify(body));
  });
});

describe("a namespace that is held to a level has no Pod beyond it, by any part of the Pod", () => {
  const SAFE_PODS = "/api/v1/namespaces/safe/pods";
  const ROOTED = { ...SAFE_CONTAINER, name: "x", securityContext: { privileged: true } };
  const ATTEMPTS: readonly (readonly [it: string, ...Sent])[] = [
    ["a container", "POST", SAFE_PODS, safePod("x", { containers: [ROOTED] })],
    ["a container that runs before", "POST", SAFE_PODS, safePod("x", { initContainers: [ROOTED] })],
    [
      "a container that is added later (CVE-2023-2727 is of this kind)",
      "PATCH",
      `${SAFE_PODS}/web/ephemeralcontainers`,
      { spec: { ephemeralContainers: [ROOTED] } },
      STRATEGIC,
    ],
    ["the second of two containers", "POST", SAFE_PODS, safePod("x", { containers: [SAFE_CONTAINER, ROOTED] })],
    ["the host's files", "POST", SAFE_PODS, safePod("x", { volumes: [{ name: "v", hostPath: { path: "/" } }] })],
    ["the host's network", "POST", SAFE_PODS, safePod("x", { hostNetwork: true })],
    ["the host's processes", "POST", SAFE_PODS, safePod("x", { hostPID: true })],
    [
      "a port of the host",
      "POST",
      SAFE_PODS,
      safePod("x", { containers: [{ ...SAFE_CONTAINER, ports: [{ containerPort: 1, hostPort: 1 }] }] }),
    ],
    [
      "no limits of system calls, for the Pod",
      "POST",
      SAFE_PODS,
      safePod("x", { containers: [{ ...SAFE_CONTAINER, securityContext: { ...SAFE, seccompProfile: { type: "Unconfined" } } }] }),
    ],
    [
      "a name for another kind of machine that excuses everything (os: windows)",
      "POST",
      SAFE_PODS,
      safePod("x", {
        os: { name: "windows" },
        containers: [{ ...SAFE_CONTAINER, securityContext: { windowsOptions: { hostProcess: true } } }],
      }),
    ],
    [
      "an account of its own choice with a label that says it is exempt",
      "POST",
      SAFE_PODS,
      {
        ...safePod("x", { containers: [ROOTED] }),
        metadata: { name: "x", labels: { "pod-security.kubernetes.io/enforce": "privileged" } },
      },
    ],
    ["in a dry run", "POST", `${SAFE_PODS}?dryRun=All`, safePod("x", { containers: [ROOTED] })],
  ];
  for (const [it, ...sends] of ATTEMPTS) test(it, async () => equal((await attempt(server, ROOT, sends)).code >= 400, true));
  test("a Pod that keeps to it is there", async () => equal((await server.call("GET", `${SAFE_PODS}/web`)).code, 200));
});
