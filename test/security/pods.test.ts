/**
 * Pods that take more than their namespace or service account permits, through a field, a subresource or a kind that a rule does not cover.
 * Admission must check the whole Pod on every path.
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

describe("a service account with enforced mountable Secrets uses no others", () => {
  const ATTEMPTS: readonly (readonly [it: string, ...Sent])[] = [
    ["by a volume", "POST", PODS, strict({ volumes: [{ name: "v", secret: { secretName: "treasure" } }] })],
    ["by an environment variable", "POST", PODS, strict({ containers: [container({ env: ENV })] })],
    ["by envFrom (CVE-2024-3177)", "POST", PODS, strict({ containers: [container({ envFrom: FROM })] })],
    ["by envFrom of an init container (CVE-2024-3177)", "POST", PODS, strict({ initContainers: [container({ envFrom: FROM })] })],
    ["by an environment variable of an init container", "POST", PODS, strict({ initContainers: [container({ env: ENV })] })],
    ["by an image pull Secret", "POST", PODS, strict({ imagePullSecrets: [{ name: "treasure" }] })],
    [
      "by an ephemeral container (CVE-2023-2728)",
      "PATCH",
      `${PODS}/web/ephemeralcontainers`,
      { spec: { ephemeralContainers: [container({ env: ENV })] } },
      STRATEGIC,
    ],
    [
      "by envFrom of an ephemeral container (CVE-2023-2728, CVE-2024-3177)",
      "PATCH",
      `${PODS}/web/ephemeralcontainers`,
      { spec: { ephemeralContainers: [container({ envFrom: FROM })] } },
      STRATEGIC,
    ],
  ];
  for (const [it, ...sends] of ATTEMPTS) {
    test(it, async () => {
      const { code, body } = await attempt(server, ROOT, sends);
      // For ephemeral containers upstream returns another error.
      equal(code, sends[0] === "PATCH" ? 500 : 403, body.message);
      match(body.message, /treasure|secret/i);
    });
  }
  test("a service account may use its mountable Secrets, also in an ephemeral container", async () => {
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

describe("admitted fields of a Pod are immutable", () => {
  const ATTEMPTS: readonly (readonly [it: string, ...Sent])[] = [
    ["its service account", "PATCH", `${PODS}/web`, { spec: { serviceAccountName: "default" } }],
    ["its node", "PATCH", `${PODS}/web`, { spec: { nodeName: "n1" } }],
    ["its host's network", "PATCH", `${PODS}/web`, { spec: { hostNetwork: true } }],
    [
      "its container's security context",
      "PATCH",
      `${PODS}/web`,
      { spec: { containers: [{ name: "c", securityContext: { privileged: true } }] } },
      STRATEGIC,
    ],
    ["an additional container", "PATCH", `${PODS}/web`, { spec: { containers: [container({})] } }, STRATEGIC],
    [
      "an ephemeral container, without its subresource",
      "PATCH",
      `${PODS}/web`,
      { spec: { ephemeralContainers: [container({})] } },
      STRATEGIC,
    ],
    [
      "an ephemeral container, changed",
      "PATCH",
      `${PODS}/web/ephemeralcontainers`,
      { spec: { ephemeralContainers: [container({ image: "j" })] } },
      STRATEGIC,
    ],
    ["an ephemeral container, removed", "PATCH", `${PODS}/web/ephemeralcontainers`, { spec: { ephemeralContainers: null } }],
    ["its volumes", "PATCH", `${PODS}/web`, { spec: { volumes: [{ name: "v", hostPath: { path: "/" } }] } }, STRATEGIC],
    [
      "other fields, through the resize subresource",
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
  test("the ephemeralcontainers subresource changes nothing else", async () => {
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

describe("a namespace with an enforced Pod Security level rejects violations in any part of a Pod", () => {
  const SAFE_PODS = "/api/v1/namespaces/safe/pods";
  const ROOTED = { ...SAFE_CONTAINER, name: "x", securityContext: { privileged: true } };
  const ATTEMPTS: readonly (readonly [it: string, ...Sent])[] = [
    ["a container", "POST", SAFE_PODS, safePod("x", { containers: [ROOTED] })],
    ["an init container", "POST", SAFE_PODS, safePod("x", { initContainers: [ROOTED] })],
    [
      "an ephemeral container (like CVE-2023-2727)",
      "PATCH",
      `${SAFE_PODS}/web/ephemeralcontainers`,
      { spec: { ephemeralContainers: [ROOTED] } },
      STRATEGIC,
    ],
    ["the second of two containers", "POST", SAFE_PODS, safePod("x", { containers: [SAFE_CONTAINER, ROOTED] })],
    ["a hostPath volume", "POST", SAFE_PODS, safePod("x", { volumes: [{ name: "v", hostPath: { path: "/" } }] })],
    ["the host network", "POST", SAFE_PODS, safePod("x", { hostNetwork: true })],
    ["the host PID namespace", "POST", SAFE_PODS, safePod("x", { hostPID: true })],
    ["a host port", "POST", SAFE_PODS, safePod("x", { containers: [{ ...SAFE_CONTAINER, ports: [{ containerPort: 1, hostPort: 1 }] }] })],
    [
      "an unconfined seccomp profile for the Pod",
      "POST",
      SAFE_PODS,
      safePod("x", { containers: [{ ...SAFE_CONTAINER, securityContext: { ...SAFE, seccompProfile: { type: "Unconfined" } } }] }),
    ],
    [
      "another operating system, which is exempt (os: windows)",
      "POST",
      SAFE_PODS,
      safePod("x", {
        os: { name: "windows" },
        containers: [{ ...SAFE_CONTAINER, securityContext: { windowsOptions: { hostProcess: true } } }],
      }),
    ],
    [
      "a service account with a label that claims an exemption",
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
  test("a Pod that complies with the level is admitted", async () => equal((await server.call("GET", `${SAFE_PODS}/web`)).code, 200));
});
