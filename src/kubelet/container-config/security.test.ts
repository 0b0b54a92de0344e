import assert from "node:assert/strict";
import { test } from "node:test";
import type { Container, EphemeralContainer, PodSpec, SecurityContext } from "../../api/generated/core/v1.ts";
import type { ContainerSecurity, Namespaces, SecurityProfile } from "../contracts/container-run.ts";
import { ContainerConfigError } from "../contracts/pod-machine.ts";
import { containerSecurity, namespacesOf, sandboxSecurity, type SecurityView } from "./security.ts";
import { aContainer, aPod, node } from "./testing/views.ts";

interface Case {
  readonly pod?: PodSpec["securityContext"];
  readonly container?: SecurityContext;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly view?: Partial<SecurityView>;
}

function securityOf({ pod, container: securityContext, annotations = {}, view = {} }: Case): ContainerSecurity {
  const container: Container | EphemeralContainer = aContainer(securityContext === undefined ? {} : { securityContext });
  const spec = { containers: [container], ...(pod === undefined ? {} : { securityContext: pod }) };
  return containerSecurity({ pod: aPod(spec, { annotations }), container, imageUser: { uid: 1000 }, node, ...view });
}

test("a container without securityContext runs as the image's user, unconfined, with masked paths", () => {
  const { maskedPaths, readOnlyPaths, ...rest } = securityOf({});
  assert.deepEqual(rest, {
    namespaces: { network: "pod", pid: "container", ipc: "pod" },
    runAsUser: 1000,
    supplementalGroups: [],
    supplementalGroupsPolicy: "Merge",
    privileged: false,
    readOnlyRoot: false,
    seccomp: { is: "unconfined" },
    addCapabilities: [],
    dropCapabilities: [],
    noNewPrivileges: false,
  });
  assert.ok(maskedPaths.includes("/proc/kcore") && readOnlyPaths.includes("/proc/sys"));
});

const rows: readonly (readonly [
  claim: string,
  given: Case,
  expected: { readonly [K in keyof ContainerSecurity]?: ContainerSecurity[K] | undefined },
])[] = [
  ["runAsUser and runAsGroup of the Pod", { pod: { runAsUser: 5, runAsGroup: 6 } }, { runAsUser: 5, runAsGroup: 6 }],
  [
    "the container's user and group override the Pod's",
    { pod: { runAsUser: 5, runAsGroup: 6 }, container: { runAsUser: 7, runAsGroup: 8 } },
    { runAsUser: 7, runAsGroup: 8 },
  ],
  ["an image without a user runs as root", { view: { imageUser: undefined } }, { runAsUser: 0 }],
  ["an image with a user name", { view: { imageUser: { name: "www" } } }, { runAsUserName: "www", runAsUser: undefined }],
  [
    "runAsUser overrides the image's user name",
    { container: { runAsUser: 7 }, view: { imageUser: { name: "www" } } },
    { runAsUser: 7, runAsUserName: undefined },
  ],
  [
    "fsGroup is a supplemental group",
    { pod: { fsGroup: 100, supplementalGroups: [200, 300], supplementalGroupsPolicy: "Strict" } },
    { supplementalGroups: [100, 200, 300], supplementalGroupsPolicy: "Strict" },
  ],
  ["rights", { container: { privileged: true, readOnlyRootFilesystem: true } }, { privileged: true, readOnlyRoot: true }],
  [
    "capabilities",
    { container: { capabilities: { add: ["NET_ADMIN"], drop: ["ALL"] } } },
    { addCapabilities: ["NET_ADMIN"], dropCapabilities: ["ALL"] },
  ],
  ["allowPrivilegeEscalation: false", { container: { allowPrivilegeEscalation: false } }, { noNewPrivileges: true }],
  ["allowPrivilegeEscalation: true", { container: { allowPrivilegeEscalation: true } }, { noNewPrivileges: false }],
  ["procMount Unmasked", { container: { procMount: "Unmasked" } }, { maskedPaths: [], readOnlyPaths: [] }],
  [
    "seLinuxOptions are passed on",
    { pod: { seLinuxOptions: { level: "s0:c0,c1" } } },
    { seLinux: { user: "", role: "", type: "", level: "s0:c0,c1" } },
  ],
  ["runAsNonRoot with a numeric user that is not root", { pod: { runAsNonRoot: true } }, { runAsUser: 1000 }],
  [
    "the container overrides the Pod's runAsNonRoot",
    { pod: { runAsNonRoot: true }, container: { runAsNonRoot: false }, view: { imageUser: { uid: 0 } } },
    { runAsUser: 0 },
  ],
  [
    "an ephemeral container shares its target's process namespace",
    { view: { targetContainerId: "id-1" } },
    { namespaces: { network: "pod", pid: "target", ipc: "pod", targetId: "id-1" } },
  ],
];

for (const [claim, given, expected] of rows) {
  test(`security: ${claim}`, () => {
    const whole = securityOf(given);
    const seen = Object.fromEntries(Object.keys(expected).map((key) => [key, whole[key as keyof ContainerSecurity]]));
    assert.deepEqual(seen, expected);
  });
}

const WHERE = '(pod: "web-0_shop(u-1)", container: main)';

const refused: readonly (readonly [message: string, given: Case])[] = [
  [`container's runAsUser breaks non-root policy ${WHERE}`, { pod: { runAsNonRoot: true, runAsUser: 0 } }],
  [`container has runAsNonRoot and image will run as root ${WHERE}`, { pod: { runAsNonRoot: true }, view: { imageUser: { uid: 0 } } }],
  [`container has runAsNonRoot and image will run as root ${WHERE}`, { container: { runAsNonRoot: true }, view: { imageUser: undefined } }],
  [
    `container has runAsNonRoot and image has non-numeric user (www), cannot verify user is non-root ${WHERE}`,
    { pod: { runAsNonRoot: true }, view: { imageUser: { name: "www" } } },
  ],
  [
    `container has runAsNonRoot and image has an invalid user id (-1). (Must be 1-(2147483647)): must be between 0 and 2147483647, inclusive ${WHERE}`,
    { pod: { runAsNonRoot: true }, view: { imageUser: { uid: -1 } } },
  ],
  ["localhostProfile must be set if seccompProfile type is Localhost.", { pod: { seccompProfile: { type: "Localhost" } } }],
  ["missing localhost apparmor profile name", { pod: { appArmorProfile: { type: "Localhost" } } }],
];

for (const [message, given] of refused) {
  test(`security context is rejected: ${message}`, () => {
    assert.throws(() => securityOf(given), new ContainerConfigError(message));
  });
}

const LOCAL = { type: "Localhost", localhostProfile: "a/b.json" } as const;
const seccomp: readonly (readonly [claim: string, given: Case, profile: SecurityProfile])[] = [
  ["RuntimeDefault", { pod: { seccompProfile: { type: "RuntimeDefault" } } }, { is: "runtime-default" }],
  [
    "the container's profile overrides the Pod's",
    { pod: { seccompProfile: { type: "RuntimeDefault" } }, container: { seccompProfile: { type: "Unconfined" } } },
    { is: "unconfined" },
  ],
  ["a Localhost profile", { container: { seccompProfile: LOCAL } }, { is: "local", reference: "/var/lib/kubelet/seccomp/a/b.json" }],
  ["RuntimeDefault by the node's seccompDefault", { view: { node: { ...node, isSeccompDefault: true } } }, { is: "runtime-default" }],
];

for (const [claim, given, profile] of seccomp) {
  test(`seccomp: ${claim}`, () => {
    assert.deepEqual(securityOf(given).seccomp, profile);
  });
}

const ANNOTATION = "container.apparmor.security.beta.kubernetes.io/main";
const appArmor: readonly (readonly [claim: string, given: Case, profile: SecurityProfile | undefined])[] = [
  ["none", {}, undefined],
  ["the Pod's profile", { pod: { appArmorProfile: { type: "RuntimeDefault" } } }, { is: "runtime-default" }],
  [
    "an annotation overrides the Pod's profile",
    { pod: { appArmorProfile: { type: "RuntimeDefault" } }, annotations: { [ANNOTATION]: "localhost/mine" } },
    { is: "local", reference: "mine" },
  ],
  [
    "the container's field overrides all",
    { annotations: { [ANNOTATION]: "localhost/mine" }, container: { appArmorProfile: { type: "Unconfined" } } },
    { is: "unconfined" },
  ],
];

for (const [claim, given, profile] of appArmor) {
  test(`AppArmor: ${claim}`, () => {
    assert.deepEqual(securityOf(given).apparmor, profile);
  });
}

const namespaces: readonly (readonly [spec: Partial<PodSpec>, namespaces: Namespaces])[] = [
  [{ hostNetwork: true }, { network: "node", pid: "container", ipc: "pod" }],
  [{ hostPID: true }, { network: "pod", pid: "node", ipc: "pod" }],
  [{ hostIPC: true }, { network: "pod", pid: "container", ipc: "node" }],
  [{ shareProcessNamespace: true }, { network: "pod", pid: "pod", ipc: "pod" }],
  [{ hostUsers: true }, { network: "pod", pid: "container", ipc: "pod" }],
];

for (const [spec, expected] of namespaces) {
  test(`namespace options of ${JSON.stringify(spec)}`, () => {
    assert.deepEqual(namespacesOf(aPod(spec)), expected);
  });
}

test("hostUsers: false is rejected", () => {
  const message = "can't set `spec.hostUsers: false`, runtime does not support user namespaces";
  assert.throws(() => namespacesOf(aPod({ hostUsers: false })), new ContainerConfigError(message));
});

test("with shareProcessNamespace an ephemeral container needs no target", () => {
  const pod = aPod({ shareProcessNamespace: true });
  const security = containerSecurity({ pod, container: aContainer(), imageUser: { uid: 1 }, node, targetContainerId: "id-1" });
  assert.deepEqual(security.namespaces, { network: "pod", pid: "pod", ipc: "pod" });
});

test("a sandbox has the Pod's users and the runtime's default profile, and is privileged if any container is", () => {
  const container = aContainer({ securityContext: { privileged: true, runAsUser: 9 } });
  const pod = aPod({
    initContainers: [container],
    securityContext: { runAsUser: 5, fsGroup: 100, seccompProfile: { type: "Unconfined" } },
  });
  assert.deepEqual(sandboxSecurity(pod), {
    namespaces: { network: "pod", pid: "container", ipc: "pod" },
    runAsUser: 5,
    supplementalGroups: [100],
    supplementalGroupsPolicy: "Merge",
    privileged: true,
    readOnlyRoot: false,
    seccomp: { is: "runtime-default" },
  });
});
