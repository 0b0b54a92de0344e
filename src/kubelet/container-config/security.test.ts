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

test("a container that says nothing is the image's user without a profile, with what must be hidden hidden", () => {
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
  ["the Pod's user and group", { pod: { runAsUser: 5, runAsGroup: 6 } }, { runAsUser: 5, runAsGroup: 6 }],
  [
    "the container's user and group count before the Pod's",
    { pod: { runAsUser: 5, runAsGroup: 6 }, container: { runAsUser: 7, runAsGroup: 8 } },
    { runAsUser: 7, runAsGroup: 8 },
  ],
  ["an image without a user is root's", { view: { imageUser: undefined } }, { runAsUser: 0 }],
  ["a user by name", { view: { imageUser: { name: "www" } } }, { runAsUserName: "www", runAsUser: undefined }],
  [
    "a number counts before the image's name",
    { container: { runAsUser: 7 }, view: { imageUser: { name: "www" } } },
    { runAsUser: 7, runAsUserName: undefined },
  ],
  [
    "the group of the volumes is one of the groups",
    { pod: { fsGroup: 100, supplementalGroups: [200, 300], supplementalGroupsPolicy: "Strict" } },
    { supplementalGroups: [100, 200, 300], supplementalGroupsPolicy: "Strict" },
  ],
  ["rights", { container: { privileged: true, readOnlyRootFilesystem: true } }, { privileged: true, readOnlyRoot: true }],
  [
    "capabilities",
    { container: { capabilities: { add: ["NET_ADMIN"], drop: ["ALL"] } } },
    { addCapabilities: ["NET_ADMIN"], dropCapabilities: ["ALL"] },
  ],
  ["no more privileges", { container: { allowPrivilegeEscalation: false } }, { noNewPrivileges: true }],
  ["more privileges", { container: { allowPrivilegeEscalation: true } }, { noNewPrivileges: false }],
  ["all of /proc", { container: { procMount: "Unmasked" } }, { maskedPaths: [], readOnlyPaths: [] }],
  [
    "SELinux as it is said",
    { pod: { seLinuxOptions: { level: "s0:c0,c1" } } },
    { seLinux: { user: "", role: "", type: "", level: "s0:c0,c1" } },
  ],
  ["not root, and a number that is not", { pod: { runAsNonRoot: true } }, { runAsUser: 1000 }],
  [
    "the container may be root",
    { pod: { runAsNonRoot: true }, container: { runAsNonRoot: false }, view: { imageUser: { uid: 0 } } },
    { runAsUser: 0 },
  ],
  [
    "an ephemeral container sees the processes of another",
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
  test(`a container is not made: ${message}`, () => {
    assert.throws(() => securityOf(given), new ContainerConfigError(message));
  });
}

const LOCAL = { type: "Localhost", localhostProfile: "a/b.json" } as const;
const seccomp: readonly (readonly [claim: string, given: Case, profile: SecurityProfile])[] = [
  ["the runtime's", { pod: { seccompProfile: { type: "RuntimeDefault" } } }, { is: "runtime-default" }],
  [
    "the container's before the Pod's",
    { pod: { seccompProfile: { type: "RuntimeDefault" } }, container: { seccompProfile: { type: "Unconfined" } } },
    { is: "unconfined" },
  ],
  ["a file of the node", { container: { seccompProfile: LOCAL } }, { is: "local", reference: "/var/lib/kubelet/seccomp/a/b.json" }],
  ["the runtime's for all, if the node says so", { view: { node: { ...node, isSeccompDefault: true } } }, { is: "runtime-default" }],
];

for (const [claim, given, profile] of seccomp) {
  test(`seccomp: ${claim}`, () => {
    assert.deepEqual(securityOf(given).seccomp, profile);
  });
}

const ANNOTATION = "container.apparmor.security.beta.kubernetes.io/main";
const appArmor: readonly (readonly [claim: string, given: Case, profile: SecurityProfile | undefined])[] = [
  ["none", {}, undefined],
  ["by the Pod", { pod: { appArmorProfile: { type: "RuntimeDefault" } } }, { is: "runtime-default" }],
  [
    "an annotation counts before the Pod",
    { pod: { appArmorProfile: { type: "RuntimeDefault" } }, annotations: { [ANNOTATION]: "localhost/mine" } },
    { is: "local", reference: "mine" },
  ],
  [
    "the container's field counts before all",
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
  test(`namespaces of ${JSON.stringify(spec)}`, () => {
    assert.deepEqual(namespacesOf(aPod(spec)), expected);
  });
}

test("users of its own are refused", () => {
  const message = "can't set `spec.hostUsers: false`, runtime does not support user namespaces";
  assert.throws(() => namespacesOf(aPod({ hostUsers: false })), new ContainerConfigError(message));
});

test("whoever shares processes with the Pod needs no target", () => {
  const pod = aPod({ shareProcessNamespace: true });
  const security = containerSecurity({ pod, container: aContainer(), imageUser: { uid: 1 }, node, targetContainerId: "id-1" });
  assert.deepEqual(security.namespaces, { network: "pod", pid: "pod", ipc: "pod" });
});

test("a sandbox has the Pod's users, the runtime's profile, and is privileged if any container is", () => {
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
