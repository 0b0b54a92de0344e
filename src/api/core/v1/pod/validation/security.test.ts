/** Validation of security contexts, with upstream's messages. The lists are those of upstream's own server, version 1.36. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { mistakesOf, NOT_A_SUBDOMAIN, type PodParts } from "../testing/pods.ts";

interface Row {
  readonly title: string;
  readonly given: PodParts;
  readonly mistakes: readonly string[];
}

const ROWS: readonly Row[] = [
  {
    title: "user IDs, profiles and options of a container's security context must be valid",
    given: {
      container: {
        securityContext: {
          runAsUser: -1,
          runAsGroup: 4294967296,
          procMount: "Odd",
          seccompProfile: { type: "" },
          appArmorProfile: { type: "Localhost" },
          windowsOptions: { runAsUserName: "", gmsaCredentialSpec: "", gmsaCredentialSpecName: "A" },
        },
      },
    },
    mistakes: [
      "spec.containers[0].securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive",
      "spec.containers[0].securityContext.runAsGroup: Invalid value: 4294967296: must be between 0 and 2147483647, inclusive",
      'spec.containers[0].securityContext.procMount: Unsupported value: "Odd": supported values: "Default", "Unmasked"',
      "spec.containers[0].securityContext.seccompProfile.type: Required value: type is required when seccompProfile is set",
      `spec.containers[0].securityContext.windowsOptions.gmsaCredentialSpecName: Invalid value: "A": ${NOT_A_SUBDOMAIN}`,
      'spec.containers[0].securityContext.windowsOptions.gmsaCredentialSpec: Invalid value: "": gmsaCredentialSpec cannot be an empty string',
      'spec.containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: "": runAsUserName cannot be an empty string',
      "spec.containers[0].securityContext.appArmorProfile.localhostProfile: Required value: must be set when AppArmor type is Localhost",
    ],
  },
  {
    title: "allowPrivilegeEscalation=false is rejected for privileged containers and with CAP_SYS_ADMIN",
    given: {
      container: { securityContext: { allowPrivilegeEscalation: false, privileged: true, capabilities: { add: ["CAP_SYS_ADMIN"] } } },
    },
    mistakes: [
      'spec.containers[0].securityContext: Invalid value: {"Capabilities":{"Add":["CAP_SYS_ADMIN"],"Drop":null},"Privileged":true,"SELinuxOptions":null,"WindowsOptions":null,"RunAsUser":null,"RunAsGroup":null,"RunAsNonRoot":null,"ReadOnlyRootFilesystem":null,"AllowPrivilegeEscalation":false,"ProcMount":null,"SeccompProfile":null,"AppArmorProfile":null}: cannot set `allowPrivilegeEscalation` to false and `privileged` to true',
      'spec.containers[0].securityContext: Invalid value: {"Capabilities":{"Add":["CAP_SYS_ADMIN"],"Drop":null},"Privileged":true,"SELinuxOptions":null,"WindowsOptions":null,"RunAsUser":null,"RunAsGroup":null,"RunAsNonRoot":null,"ReadOnlyRootFilesystem":null,"AllowPrivilegeEscalation":false,"ProcMount":null,"SeccompProfile":null,"AppArmorProfile":null}: cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN',
    ],
  },
  {
    title: "localhostProfile is rejected unless the profile type is Localhost",
    given: {
      container: {
        securityContext: {
          procMount: "Unmasked",
          seccompProfile: { type: "RuntimeDefault", localhostProfile: "x" },
          appArmorProfile: { type: "RuntimeDefault", localhostProfile: "x" },
        },
      },
    },
    mistakes: [
      'spec.containers[0].securityContext.procMount: Invalid value: "Unmasked": `hostUsers` must be false to use `Unmasked`',
      'spec.containers[0].securityContext.seccompProfile.localhostProfile: Invalid value: {"Type":"RuntimeDefault","LocalhostProfile":"x"}: can only be set when seccomp type is Localhost',
      'spec.containers[0].securityContext.appArmorProfile.localhostProfile: Invalid value: "x": can only be set when AppArmor type is Localhost',
    ],
  },
  {
    title: "a localhostProfile must be a relative path within its directory",
    given: {
      container: {
        securityContext: {
          seccompProfile: { type: "Localhost", localhostProfile: "/../x" },
          appArmorProfile: { type: "Localhost", localhostProfile: " x" },
        },
      },
    },
    mistakes: [
      'spec.containers[0].securityContext.seccompProfile.localhostProfile: Invalid value: "/../x": must be a relative path',
      "spec.containers[0].securityContext.seccompProfile.localhostProfile: Invalid value: \"/../x\": must not contain '..'",
      'spec.containers[0].securityContext.appArmorProfile.localhostProfile: Invalid value: " x": must not be padded with whitespace',
    ],
  },
  {
    title: "an unsupported profile type is rejected",
    given: { container: { securityContext: { seccompProfile: { type: "Odd" }, appArmorProfile: { type: "Odd" } } } },
    mistakes: [
      'spec.containers[0].securityContext.seccompProfile.type: Unsupported value: "Odd": supported values: "Localhost", "RuntimeDefault", "Unconfined"',
      'spec.containers[0].securityContext.appArmorProfile.type: Unsupported value: "Odd": supported values: "Localhost", "RuntimeDefault", "Unconfined"',
    ],
  },
  {
    title: "the profile type Localhost requires a localhostProfile",
    given: {
      container: {
        securityContext: { seccompProfile: { type: "Localhost" }, appArmorProfile: { type: "Localhost", localhostProfile: "" } },
      },
    },
    mistakes: [
      "spec.containers[0].securityContext.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost",
      "spec.containers[0].securityContext.appArmorProfile.localhostProfile: Required value: must be set when AppArmor type is Localhost",
    ],
  },
  {
    title: "a Windows user name must have at most one domain",
    given: { container: { securityContext: { windowsOptions: { runAsUserName: "a\\b\\c" } } } },
    mistakes: [
      'spec.containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: "a\\\\b\\\\c": runAsUserName cannot contain more than one backslash',
    ],
  },
  {
    title: "domain and user of a Windows user name must be valid and not empty",
    given: { container: { securityContext: { windowsOptions: { runAsUserName: "bad dom?\\" } } } },
    mistakes: [
      "spec.containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: \"bad dom?\\\\\": runAsUserName's Domain doesn't match the NetBios nor the DNS format",
      'spec.containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: "bad dom?\\\\": runAsUserName\'s User cannot be empty',
    ],
  },
  {
    title: "a Windows user name must not contain a slash",
    given: { container: { securityContext: { windowsOptions: { runAsUserName: "x/y" } } } },
    mistakes: [
      'spec.containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: "x/y": runAsUserName\'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]',
    ],
  },
  {
    title: "a Windows user name must not consist of dots and spaces",
    given: { container: { securityContext: { windowsOptions: { runAsUserName: "..." } } } },
    mistakes: [
      'spec.containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: "...": runAsUserName\'s User cannot contain only periods or spaces',
    ],
  },
  {
    title: "a Windows user name must not contain control characters",
    given: { container: { securityContext: { windowsOptions: { runAsUserName: "a\u0001" } } } },
    mistakes: [
      'spec.containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: "a\\x01": runAsUserName cannot contain control characters',
    ],
  },
  {
    title: "all containers of a Pod must agree on hostProcess",
    given: {
      spec: {
        securityContext: { windowsOptions: { hostProcess: true } },
        containers: [
          { name: "a", image: "x", securityContext: { windowsOptions: { hostProcess: false } } },
          { name: "b", image: "x" },
        ],
      },
    },
    mistakes: [
      "spec.containers[0].securityContext.windowsOptions.hostProcess: Invalid value: false: pod hostProcess value must be identical if both are specified, was true",
      'spec: Invalid value: "": If pod contains any hostProcess containers then all containers must be HostProcess containers',
      "spec.hostNetwork: Invalid value: false: hostNetwork must be true if pod contains any hostProcess containers",
    ],
  },
  {
    title: "hostUsers=false excludes host namespaces and block devices",
    given: {
      spec: {
        hostUsers: false,
        hostNetwork: true,
        hostPID: true,
        hostIPC: true,
        volumes: [{ name: "p", persistentVolumeClaim: { claimName: "c" } }],
      },
      container: { volumeDevices: [{ name: "p", devicePath: "/x" }] },
    },
    mistakes: [
      "spec.hostNetwork: Forbidden: when `hostUsers` is false",
      "spec.HostPID: Forbidden: when `hostUsers` is false",
      "spec.HostIPC: Forbidden: when `hostUsers` is false",
      "spec.containers[0].volumeDevices: Forbidden: when `hostUsers` is false",
    ],
  },
  {
    title: "the security context of a Pod must be valid",
    given: {
      spec: {
        hostPID: true,
        shareProcessNamespace: true,
        securityContext: {
          fsGroup: -1,
          runAsUser: -1,
          runAsGroup: -1,
          supplementalGroups: [1, -1],
          fsGroupChangePolicy: "Odd",
          supplementalGroupsPolicy: "Odd",
          seLinuxChangePolicy: "MountOption",
          seccompProfile: { type: "Odd" },
          appArmorProfile: { type: "" },
        },
      },
    },
    mistakes: [
      "spec.securityContext.fsGroup: Invalid value: -1: must be between 0 and 2147483647, inclusive",
      "spec.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive",
      "spec.securityContext.runAsGroup: Invalid value: -1: must be between 0 and 2147483647, inclusive",
      "spec.securityContext.supplementalGroups[1]: Invalid value: -1: must be between 0 and 2147483647, inclusive",
      "spec.securityContext.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled",
      'spec.securityContext.fsGroupChangePolicy: Unsupported value: "Odd": supported values: "Always", "OnRootMismatch"',
      'spec.securityContext.seccompProfile.type: Unsupported value: "Odd": supported values: "Localhost", "RuntimeDefault", "Unconfined"',
      "spec.securityContext.appArmorProfile.type: Required value: type is required when appArmorProfile is set",
      'spec.securityContext.supplementalGroupsPolicy: Unsupported value: "Odd": supported values: "Merge", "Strict"',
      'spec.securityContext.seLinuxChangePolicy: Unsupported value: "MountOption": supported values: "Recursive"',
    ],
  },
  {
    title: "sysctls require valid unique names, and namespaced ones exclude the host's namespace",
    given: {
      spec: {
        hostNetwork: true,
        hostIPC: true,
        securityContext: {
          sysctls: [
            { name: "", value: "" },
            { name: "A", value: "" },
            { name: "net.ipv4.x", value: "1" },
            { name: "net/ipv4/y", value: "1" },
            { name: "kernel.sem", value: "1" },
            { name: "kernel.sem", value: "1" },
            { name: "fs.mqueue.a", value: "1" },
            { name: "vm.x", value: "1" },
          ],
        },
      },
    },
    mistakes: [
      "spec.securityContext.sysctls[0].name: Required value",
      'spec.securityContext.sysctls[1].name: Invalid value: "A": must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$',
      "spec.securityContext.sysctls[2].name: Invalid value: \"net.ipv4.x\": may not be specified when 'hostNetwork' is true",
      "spec.securityContext.sysctls[3].name: Invalid value: \"net/ipv4/y\": may not be specified when 'hostNetwork' is true",
      "spec.securityContext.sysctls[4].name: Invalid value: \"kernel.sem\": may not be specified when 'hostIPC' is true",
      'spec.securityContext.sysctls[5].name: Duplicate value: "kernel.sem"',
      "spec.securityContext.sysctls[5].name: Invalid value: \"kernel.sem\": may not be specified when 'hostIPC' is true",
      "spec.securityContext.sysctls[6].name: Invalid value: \"fs.mqueue.a\": may not be specified when 'hostIPC' is true",
    ],
  },
  { title: "the OS of a Pod requires a name", given: { spec: { os: { name: "" } } }, mistakes: ["spec.os.name: Required value"] },
  {
    title: "an unsupported OS is rejected",
    given: { spec: { os: { name: "mac" } } },
    mistakes: ['spec.os: Unsupported value: "mac": supported values: "linux", "windows"'],
  },
  {
    title: "a Linux Pod must not set windowsOptions",
    given: {
      spec: { os: { name: "linux" }, securityContext: { windowsOptions: {} } },
      container: { securityContext: { windowsOptions: {} } },
    },
    mistakes: [
      "spec.securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod",
      "spec.containers[0].securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod",
    ],
  },
  {
    title: "a Windows Pod must not set Linux fields",
    given: {
      spec: {
        os: { name: "windows" },
        hostPID: true,
        hostIPC: false,
        hostUsers: true,
        shareProcessNamespace: false,
        resources: { limits: { cpu: 1 } },
        securityContext: {
          seLinuxOptions: {},
          fsGroup: 1,
          runAsUser: 1,
          sysctls: [{ name: "a", value: "b" }],
          supplementalGroups: [1],
          seccompProfile: { type: "Unconfined" },
          fsGroupChangePolicy: "Always",
          supplementalGroupsPolicy: "Merge",
          runAsGroup: 1,
          appArmorProfile: { type: "Unconfined" },
          seLinuxChangePolicy: "Recursive",
        },
      },
      container: {
        securityContext: {
          privileged: false,
          capabilities: {},
          procMount: "Default",
          runAsUser: 1,
          readOnlyRootFilesystem: true,
          allowPrivilegeEscalation: true,
          seLinuxOptions: {},
          seccompProfile: { type: "Unconfined" },
          runAsGroup: 1,
        },
      },
    },
    mistakes: [
      "spec.resources: Forbidden: may not be set for a windows pod",
      "spec.securityContext.appArmorProfile: Forbidden: cannot be set for a windows pod",
      "spec.securityContext.seLinuxOptions: Forbidden: cannot be set for a windows pod",
      "spec.hostUsers: Forbidden: cannot be set for a windows pod",
      "spec.hostPID: Forbidden: cannot be set for a windows pod",
      "spec.securityContext.seccompProfile: Forbidden: cannot be set for a windows pod",
      "spec.securityContext.fsGroup: Forbidden: cannot be set for a windows pod",
      "spec.securityContext.fsGroupChangePolicy: Forbidden: cannot be set for a windows pod",
      "spec.securityContext.sysctls: Forbidden: cannot be set for a windows pod",
      "spec.shareProcessNamespace: Forbidden: cannot be set for a windows pod",
      "spec.securityContext.runAsUser: Forbidden: cannot be set for a windows pod",
      "spec.securityContext.runAsGroup: Forbidden: cannot be set for a windows pod",
      "spec.securityContext.supplementalGroups: Forbidden: cannot be set for a windows pod",
      "spec.securityContext.supplementalGroupsPolicy: Forbidden: cannot be set for a windows pod",
      "spec.securityContext.seLinuxChangePolicy: Forbidden: cannot be set for a windows pod",
      "spec.containers[0].securityContext.seLinuxOptions: Forbidden: cannot be set for a windows pod",
      "spec.containers[0].securityContext.seccompProfile: Forbidden: cannot be set for a windows pod",
      "spec.containers[0].securityContext.capabilities: Forbidden: cannot be set for a windows pod",
      "spec.containers[0].securityContext.readOnlyRootFilesystem: Forbidden: cannot be set for a windows pod",
      "spec.containers[0].securityContext.privileged: Forbidden: cannot be set for a windows pod",
      "spec.containers[0].securityContext.allowPrivilegeEscalation: Forbidden: cannot be set for a windows pod",
      "spec.containers[0].securityContext.procMount: Forbidden: cannot be set for a windows pod",
      "spec.containers[0].securityContext.runAsUser: Forbidden: cannot be set for a windows pod",
      "spec.containers[0].securityContext.runAsGroup: Forbidden: cannot be set for a windows pod",
    ],
  },
  {
    title: "an AppArmor annotation must match the field",
    given: {
      metadata: { annotations: { "container.apparmor.security.beta.kubernetes.io/web": "unconfined" } },
      container: { securityContext: { appArmorProfile: { type: "RuntimeDefault" } } },
    },
    mistakes: ["spec.containers[0].securityContext.appArmorProfile.type: Forbidden: apparmor type in annotation and field must match"],
  },
  {
    title: "a localhostProfile must be a path",
    given: { container: { securityContext: { appArmorProfile: { type: "Localhost", localhostProfile: `${"a".repeat(4096)}` } } } },
    mistakes: ["spec.containers[0].securityContext.appArmorProfile.localhostProfile: Too long: may not be more than 4095 bytes"],
  },
  {
    title: "a Windows Pod must not set hostIPC",
    given: { spec: { os: { name: "windows" }, hostIPC: true } },
    mistakes: ["spec.hostIPC: Forbidden: cannot be set for a windows pod"],
  },
  {
    title: "Windows options are limited in length",
    given: {
      container: {
        securityContext: {
          windowsOptions: { gmsaCredentialSpec: `${"a".repeat(65537)}`, runAsUserName: `${"a".repeat(256)}\\${"a".repeat(105)}` },
        },
      },
    },
    mistakes: [
      `spec.containers[0].securityContext.windowsOptions.gmsaCredentialSpec: Invalid value: "${"a".repeat(65537)}": gmsaCredentialSpec size must be under 64 KiB`,
      `spec.containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: "${"a".repeat(256)}\\\\${"a".repeat(105)}": runAsUserName's Domain length must be under 256 characters`,
      `spec.containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: "${"a".repeat(256)}\\\\${"a".repeat(105)}": runAsUserName's Domain doesn't match the NetBios nor the DNS format`,
      `spec.containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: "${"a".repeat(256)}\\\\${"a".repeat(105)}": runAsUserName's User length must not be longer than 104 characters`,
    ],
  },
];

for (const { title, given, mistakes } of ROWS) {
  test(title, () => {
    assert.deepEqual(mistakesOf(given), mistakes);
  });
}

test("ids beyond 2^53 are rejected like any other invalid id", () => {
  const securityContext = { runAsUser: 1n << 60n, allowPrivilegeEscalation: false, privileged: true };

  const [first = "", second = ""] = mistakesOf({ container: { securityContext } });

  assert.match(first, /^spec\.containers\[0\]\.securityContext\.runAsUser: Invalid value: 1152921504606846976: must be between 0/);
  assert.match(second, /"RunAsUser":1152921504606847000,/);
});
