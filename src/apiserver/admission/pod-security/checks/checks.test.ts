import assert from "node:assert/strict";
import { test } from "node:test";
import type { Container, PodSpec, SecurityContext, Volume } from "../../../../api/generated/core/v1.ts";
import type { Check, CheckedPod } from "../check.ts";
import { allowPrivilegeEscalation } from "./allow-privilege-escalation.ts";
import { appArmorProfile } from "./app-armor-profile.ts";
import { capabilitiesBaseline } from "./capabilities-baseline.ts";
import { capabilitiesRestricted } from "./capabilities-restricted.ts";
import { hostNamespaces } from "./host-namespaces.ts";
import { hostPathVolumes } from "./host-path-volumes.ts";
import { hostPorts } from "./host-ports.ts";
import { hostProbesAndHostLifecycle } from "./host-probes-and-host-lifecycle.ts";
import { privileged } from "./privileged.ts";
import { procMount, procMountRestricted } from "./proc-mount.ts";
import { restrictedVolumes } from "./restricted-volumes.ts";
import { runAsNonRoot } from "./run-as-non-root.ts";
import { runAsUser } from "./run-as-user.ts";
import { seLinuxOptions } from "./se-linux-options.ts";
import { seccompProfileBaseline, seccompProfileRestricted } from "./seccomp-profile.ts";
import { sysctls } from "./sysctls.ts";
import { windowsHostProcess } from "./windows-host-process.ts";

/** Containers "a", "b", … with these security contexts; undefined for none. */
function withContexts(contexts: readonly (SecurityContext | undefined)[], spec: Partial<PodSpec> = {}): CheckedPod {
  const containers = contexts.map((securityContext, index) => ({
    name: "abcdef"[index] ?? "",
    ...(securityContext === undefined ? {} : { securityContext }),
  }));
  return { annotations: {}, spec: { containers, ...spec } };
}

function withContainers(...containers: readonly Container[]): CheckedPod {
  return { annotations: {}, spec: { containers } };
}

function withSpec(spec: Partial<PodSpec>): CheckedPod {
  return { annotations: {}, spec: { containers: [{ name: "a" }], ...spec } };
}

function withAnnotations(annotations: Readonly<Record<string, string>>): CheckedPod {
  return { annotations, spec: { containers: [{ name: "a" }] } };
}

function withVolumes(...volumes: readonly Partial<Volume>[]): CheckedPod {
  return withSpec({ volumes: volumes.map((volume, index) => ({ name: `v${index}`, ...volume })) });
}

const WINDOWS: Partial<PodSpec> = { os: { name: "windows" } };
const OWN_USERS: Partial<PodSpec> = { hostUsers: false };
const ALL_DROPPED = { capabilities: { drop: ["ALL"] } };
const ALLOWS: string | undefined = undefined;

/** Check, minor version of the policy, description of the pod, pod, and `reason: detail` if the pod violates the check. */
const rows: readonly (readonly [Check, number, string, CheckedPod, string | undefined])[] = [
  [allowPrivilegeEscalation, 7, "sets nothing, before the field existed", withContexts([undefined]), ALLOWS],
  [
    allowPrivilegeEscalation,
    8,
    "sets nothing or true",
    withContexts([undefined, {}, { allowPrivilegeEscalation: true }, { allowPrivilegeEscalation: false }]),
    'allowPrivilegeEscalation != false: containers "a", "b", "c" must set securityContext.allowPrivilegeEscalation=false',
  ],
  [
    allowPrivilegeEscalation,
    24,
    "is for Windows, before that counted",
    withContexts([undefined], WINDOWS),
    'allowPrivilegeEscalation != false: container "a" must set securityContext.allowPrivilegeEscalation=false',
  ],
  [allowPrivilegeEscalation, 25, "is for Windows", withContexts([undefined], WINDOWS), ALLOWS],

  [
    appArmorProfile,
    0,
    "has allowed profiles",
    withContexts([{ appArmorProfile: { type: "RuntimeDefault" } }, { appArmorProfile: { type: "Localhost" } }]),
    ALLOWS,
  ],
  [
    appArmorProfile,
    0,
    "switches it off for pod and container",
    withContexts([{ appArmorProfile: { type: "Unconfined" } }], { securityContext: { appArmorProfile: { type: "Unconfined" } } }),
    'forbidden AppArmor profile: pod and container "a" must not set AppArmor profile type to "Unconfined"',
  ],
  [
    appArmorProfile,
    0,
    "switches it off by annotations",
    withAnnotations({
      "container.apparmor.security.beta.kubernetes.io/b": "unconfined",
      "container.apparmor.security.beta.kubernetes.io/a": "other",
      "container.apparmor.security.beta.kubernetes.io/c": "localhost/x",
    }),
    'forbidden AppArmor profiles: annotations must not set AppArmor profile type to "container.apparmor.security.beta.kubernetes.io/a="other"", "container.apparmor.security.beta.kubernetes.io/b="unconfined""',
  ],

  [capabilitiesBaseline, 0, "adds usual ones", withContexts([{ capabilities: { add: ["CHOWN", "SYS_CHROOT"] } }]), ALLOWS],
  [
    capabilitiesBaseline,
    0,
    "adds more",
    withContexts([{ capabilities: { add: ["NET_RAW", "CHOWN"] } }, {}, { capabilities: { add: ["BPF", "NET_RAW"] } }]),
    'non-default capabilities: containers "a", "c" must not include "BPF", "NET_RAW" in securityContext.capabilities.add',
  ],

  [capabilitiesRestricted, 21, "keeps them, before it was asked", withContexts([undefined]), ALLOWS],
  [
    capabilitiesRestricted,
    22,
    "drops all and listens",
    withContexts([{ capabilities: { drop: ["ALL"], add: ["NET_BIND_SERVICE"] } }]),
    ALLOWS,
  ],
  [
    capabilitiesRestricted,
    22,
    "keeps some and adds some",
    withContexts([undefined, { capabilities: { drop: ["KILL"] } }, { capabilities: { ...ALL_DROPPED.capabilities, add: ["CHOWN"] } }]),
    'unrestricted capabilities: containers "a", "b" must set securityContext.capabilities.drop=["ALL"]; container "c" must not include "CHOWN" in securityContext.capabilities.add',
  ],
  [capabilitiesRestricted, 25, "is for Windows", withContexts([undefined], WINDOWS), ALLOWS],

  [hostNamespaces, 0, "sets false for all", withSpec({ hostNetwork: false, hostPID: false, hostIPC: false }), ALLOWS],
  [
    hostNamespaces,
    0,
    "shares all",
    withSpec({ hostIPC: true, hostPID: true, hostNetwork: true }),
    "host namespaces: hostNetwork=true, hostPID=true, hostIPC=true",
  ],

  [hostPathVolumes, 0, "has other volumes", withVolumes({ emptyDir: {} }), ALLOWS],
  [
    hostPathVolumes,
    0,
    "has two",
    withVolumes({ hostPath: { path: "/a" } }, { emptyDir: {} }, { hostPath: { path: "/b" } }),
    'hostPath volumes: volumes "v0", "v2"',
  ],

  [hostPorts, 0, "has ports of its own", withContainers({ name: "a", ports: [{ containerPort: 80, hostPort: 0 }] }), ALLOWS],
  [
    hostPorts,
    0,
    "takes ports of the node",
    withContainers(
      { name: "a", ports: [{ containerPort: 80, hostPort: 9 }] },
      {
        name: "b",
        ports: [
          { containerPort: 80, hostPort: 80 },
          { containerPort: 81, hostPort: 9 },
        ],
      },
    ),
    'hostPort: containers "a", "b" use hostPorts 80, 9',
  ],

  [
    hostProbesAndHostLifecycle,
    33,
    "probes another host, before the check existed",
    withContainers({ name: "a", livenessProbe: { httpGet: { port: 1, host: "x" } } }),
    ALLOWS,
  ],
  [
    hostProbesAndHostLifecycle,
    34,
    "probes itself",
    withContainers({ name: "a", livenessProbe: { httpGet: { port: 1, host: "" } } }),
    ALLOWS,
  ],
  [
    hostProbesAndHostLifecycle,
    34,
    "reaches other hosts in every way",
    withContainers(
      { name: "b", livenessProbe: { httpGet: { port: 1, host: "h" } }, startupProbe: { tcpSocket: { port: 1, host: "t" } } },
      { name: "a", lifecycle: { postStart: { httpGet: { port: 1, host: "l" } }, preStop: { tcpSocket: { port: 1, host: "h" } } } },
      { name: "c", readinessProbe: { tcpSocket: { port: 1 } } },
    ),
    'probe or lifecycle host: containers "a", "b" use probe or lifecycle hosts "h", "l", "t"',
  ],

  [privileged, 0, "sets false", withContexts([{ privileged: false }]), ALLOWS],
  [
    privileged,
    0,
    "sets true",
    withContexts([{}, { privileged: true }]),
    'privileged: container "b" must not set securityContext.privileged=true',
  ],

  [procMount, 0, "has the usual", withContexts([{ procMount: "Default" }, undefined]), ALLOWS],
  [
    procMount,
    34,
    "shows all, with users of its own",
    withContexts([{ procMount: "Unmasked" }], OWN_USERS),
    'procMount: container "a" must not set securityContext.procMount to "Unmasked"',
  ],
  [procMount, 35, "shows all, with users of its own", withContexts([{ procMount: "Unmasked" }], OWN_USERS), ALLOWS],
  [
    procMount,
    35,
    "shows all, with the node's users",
    withContexts([{ procMount: "Unmasked" }], { hostUsers: true }),
    'procMount: container "a" must not set securityContext.procMount to "Unmasked"',
  ],
  [procMountRestricted, 34, "unmasks /proc, which the baseline check reports", withContexts([{ procMount: "Unmasked" }]), ALLOWS],
  [
    procMountRestricted,
    35,
    "shows all, with users of its own",
    withContexts([{ procMount: "Unmasked" }], OWN_USERS),
    'procMount: container "a" must not set securityContext.procMount to "Unmasked"',
  ],

  [
    restrictedVolumes,
    0,
    "has all that is allowed",
    withVolumes(
      { configMap: {} },
      { downwardAPI: {} },
      { emptyDir: {} },
      { projected: {} },
      { secret: {} },
      { csi: { driver: "d" } },
      { persistentVolumeClaim: { claimName: "c" } },
      { ephemeral: {} },
      { image: {} },
    ),
    ALLOWS,
  ],
  [
    restrictedVolumes,
    0,
    "has others",
    withVolumes({ nfs: { server: "s", path: "/" } }, { hostPath: { path: "/" } }, { secret: {} }, {}),
    'restricted volume types: volumes "v0", "v1", "v3" use restricted volume types "hostPath", "nfs", "unknown"',
  ],

  [runAsNonRoot, 0, "sets it for the pod", withContexts([undefined, {}], { securityContext: { runAsNonRoot: true } }), ALLOWS],
  [runAsNonRoot, 0, "sets it for each container", withContexts([{ runAsNonRoot: true }]), ALLOWS],
  [
    runAsNonRoot,
    0,
    "sets false",
    withContexts([{ runAsNonRoot: false }, undefined], { securityContext: { runAsNonRoot: false } }),
    'runAsNonRoot != true: pod and container "a" must not set securityContext.runAsNonRoot=false',
  ],
  [
    runAsNonRoot,
    34,
    "sets nothing, in a user namespace",
    withContexts([undefined, { runAsNonRoot: true }], OWN_USERS),
    'runAsNonRoot != true: pod or container "a" must set securityContext.runAsNonRoot=true',
  ],
  [runAsNonRoot, 35, "sets nothing, in a user namespace", withContexts([undefined], OWN_USERS), ALLOWS],

  [runAsUser, 22, "is root, before it was asked", withContexts([{ runAsUser: 0 }]), ALLOWS],
  [runAsUser, 23, "runs as a non-root user", withContexts([{ runAsUser: 1 }, undefined]), ALLOWS],
  [
    runAsUser,
    23,
    "is root",
    withContexts([{ runAsUser: 0 }, { runAsUser: 0 }], { securityContext: { runAsUser: 0 } }),
    'runAsUser=0: pod and containers "a", "b" must not set runAsUser=0',
  ],
  [runAsUser, 35, "is root, with users of its own", withContexts([{ runAsUser: 0 }], OWN_USERS), ALLOWS],

  [
    seLinuxOptions,
    0,
    "has types for containers",
    withContexts([{ seLinuxOptions: { type: "container_t" } }, { seLinuxOptions: { level: "s0" } }]),
    ALLOWS,
  ],
  [
    seLinuxOptions,
    30,
    "has a type that came later",
    withContexts([{ seLinuxOptions: { type: "container_engine_t" } }]),
    'seLinuxOptions: container "a" set forbidden securityContext.seLinuxOptions: type "container_engine_t"',
  ],
  [seLinuxOptions, 31, "has a type that came then", withContexts([{ seLinuxOptions: { type: "container_engine_t" } }]), ALLOWS],
  [
    seLinuxOptions,
    0,
    "has everything",
    withContexts([{ seLinuxOptions: { type: "y", role: "r" } }], { securityContext: { seLinuxOptions: { type: "x", user: "u" } } }),
    'seLinuxOptions: pod and container "a" set forbidden securityContext.seLinuxOptions: types "x", "y"; user may not be set; role may not be set',
  ],

  [
    seccompProfileBaseline,
    18,
    "switches it off by field, when annotations counted",
    withContexts([{ seccompProfile: { type: "Unconfined" } }]),
    ALLOWS,
  ],
  [
    seccompProfileBaseline,
    18,
    "switches it off by annotations",
    withAnnotations({
      "seccomp.security.alpha.kubernetes.io/pod": "unconfined",
      "container.seccomp.security.alpha.kubernetes.io/a": "",
      "container.seccomp.security.alpha.kubernetes.io/missing": "unconfined",
    }),
    'seccompProfile: forbidden annotations container.seccomp.security.alpha.kubernetes.io/a="", seccomp.security.alpha.kubernetes.io/pod="unconfined"',
  ],
  [
    seccompProfileBaseline,
    19,
    "switches it off by annotations",
    withAnnotations({ "seccomp.security.alpha.kubernetes.io/pod": "unconfined" }),
    ALLOWS,
  ],
  [
    seccompProfileBaseline,
    19,
    "switches it off",
    withContexts([{ seccompProfile: { type: "Unconfined" } }], { securityContext: { seccompProfile: { type: "Unconfined" } } }),
    'seccompProfile: pod and container "a" must not set securityContext.seccompProfile.type to "Unconfined"',
  ],
  [seccompProfileBaseline, 19, "sets nothing", withContexts([undefined]), ALLOWS],
  [seccompProfileRestricted, 18, "sets nothing, before the check existed", withContexts([undefined]), ALLOWS],
  [
    seccompProfileRestricted,
    19,
    "sets nothing",
    withContexts([undefined, { seccompProfile: { type: "Localhost" } }]),
    'seccompProfile: pod or container "a" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"',
  ],
  [
    seccompProfileRestricted,
    19,
    "sets it for the pod",
    withContexts([undefined], { securityContext: { seccompProfile: { type: "RuntimeDefault" } } }),
    ALLOWS,
  ],
  [
    seccompProfileRestricted,
    19,
    "switches it off for one",
    withContexts([{ seccompProfile: { type: "Unconfined" } }, undefined]),
    'seccompProfile: container "a" must not set securityContext.seccompProfile.type to "Unconfined"',
  ],
  [seccompProfileRestricted, 25, "is for Windows", withContexts([undefined], WINDOWS), ALLOWS],

  ...(
    [
      ["net.ipv4.tcp_syncookies", 0],
      ["net.ipv4.ip_local_reserved_ports", 27],
      ["net.ipv4.tcp_fin_timeout", 29],
      ["net.ipv4.tcp_rmem", 32],
    ] as const
  ).flatMap(([name, since]) => {
    const pod = withSpec({
      securityContext: {
        sysctls: [
          { name, value: "1" },
          { name: "kernel.msgmax", value: "1" },
        ],
      },
    });
    return [
      ...(since === 0 ? [] : ([[sysctls, since - 1, `sets ${name}`, pod, `forbidden sysctls: ${name}, kernel.msgmax`]] as const)),
      [sysctls, since, `sets ${name}`, pod, "forbidden sysctls: kernel.msgmax"] as const,
    ];
  }),

  [windowsHostProcess, 0, "sets false", withContexts([{ windowsOptions: { hostProcess: false } }]), ALLOWS],
  [
    windowsHostProcess,
    0,
    "sets true",
    withContexts([{ windowsOptions: { hostProcess: true } }], { securityContext: { windowsOptions: { hostProcess: true } } }),
    'hostProcess: pod and container "a" must not set securityContext.windowsOptions.hostProcess=true',
  ],
];

for (const [check, minor, what, pod, expected] of rows) {
  test(`${check.id} of v1.${minor} ${expected === undefined ? "allows" : "rejects"} a pod that ${what}`, () => {
    const violation = check.versions.findLast(({ since }) => since <= minor)?.judge(pod);

    assert.equal(violation === undefined ? undefined : `${violation.reason}: ${violation.detail}`, expected);
  });
}

test("init and ephemeral containers are checked like all others, in the order in which they run", () => {
  const pod = withSpec({ initContainers: [{ name: "init" }], ephemeralContainers: [{ name: "debug" }] });

  const violation = allowPrivilegeEscalation.versions.at(-1)?.judge(pod);

  assert.match(violation?.detail ?? "", /^containers "init", "a", "debug" must/);
});
