/** Validation of scheduling, names and addresses, with upstream's messages. The lists are those of upstream's own server, version 1.36. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { mistakesOf, NOT_A_LABEL, NOT_A_SUBDOMAIN, NOT_A_QUALIFIED_NAME, NOT_A_LABEL_VALUE, type PodParts } from "../testing/pods.ts";

interface Row {
  readonly title: string;
  readonly given: PodParts;
  readonly mistakes: readonly string[];
}

const ROWS: readonly Row[] = [
  {
    title: "unsupported restart and DNS policies of a Pod are rejected",
    given: { spec: { restartPolicy: "Odd", dnsPolicy: "Odd" } },
    mistakes: [
      'spec.restartPolicy: Unsupported value: "Odd": supported values: "Always", "OnFailure", "Never"',
      'spec.dnsPolicy: Unsupported value: "Odd": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"',
    ],
  },
  {
    title: "the DNS policy None requires a dnsConfig",
    given: { spec: { dnsPolicy: "None" } },
    mistakes: ["spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None"],
  },
  {
    title: "the DNS policy None requires a nameserver",
    given: { spec: { dnsPolicy: "None", dnsConfig: {} } },
    mistakes: ["spec.dnsConfig.nameservers: Required value: must provide at least one DNS nameserver when `dnsPolicy` is None"],
  },
  {
    title: "nameservers must be IP addresses, search domains must be DNS names, and both are limited in number",
    given: {
      spec: {
        dnsConfig: {
          nameservers: ["1.1.1.1", "x", "01.1.1.1", "::ffff:1.2.3.4"],
          searches: [
            ".",
            "a_b.c.",
            "A",
            "a",
            "b",
            "c",
            "d",
            "e",
            "f",
            "g",
            "h",
            "i",
            "j",
            "k",
            "l",
            "m",
            "n",
            "o",
            "p",
            "q",
            "r",
            "s",
            "t",
            "u",
            "v",
            "w",
            "x",
            "y",
            "z",
            "a",
            "b",
            "c",
            "d",
            "e",
            "f",
            "g",
            "h",
          ],
          options: [{ name: "" }],
        },
      },
    },
    mistakes: [
      'spec.dnsConfig.nameservers: Invalid value: ["1.1.1.1","x","01.1.1.1","::ffff:1.2.3.4"]: must not have more than 3 nameservers',
      'spec.dnsConfig.nameservers[1]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      'spec.dnsConfig.nameservers[2]: Invalid value: "01.1.1.1": must not have leading 0s',
      'spec.dnsConfig.nameservers[3]: Invalid value: "::ffff:1.2.3.4": must not be an IPv4-mapped IPv6 address',
      'spec.dnsConfig.searches: Invalid value: [".","a_b.c.","A","a","b","c","d","e","f","g","h","i","j","k","l","m","n","o","p","q","r","s","t","u","v","w","x","y","z","a","b","c","d","e","f","g","h"]: must not have more than 32 search paths',
      "spec.dnsConfig.searches[2]: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')",
      "spec.dnsConfig.options[0]: Required value: must not be empty",
    ],
  },
  {
    title: "host aliases require IP addresses and DNS names",
    given: {
      spec: {
        dnsConfig: {
          nameservers: ["1:0::1"],
          searches: [
            "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx.com",
          ],
        },
        hostAliases: [{ ip: "1.1.1.1", hostnames: ["a", "A"] }, { ip: "1.1.1.1" }, { ip: "" }],
      },
    },
    mistakes: [
      `spec.hostAliases[0].hostnames[1]: Invalid value: "A": ${NOT_A_SUBDOMAIN}`,
      'spec.hostAliases[2].ip: Invalid value: "": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ],
  },
  {
    title: "names of a Pod spec must be DNS names, and deadlines must be positive",
    given: { spec: { hostname: "A.b", subdomain: "-x", nodeName: "A", serviceAccountName: "A", activeDeadlineSeconds: 0 } },
    mistakes: [
      `spec.serviceAccountName: Invalid value: "A": ${NOT_A_SUBDOMAIN}`,
      `spec.nodeName: Invalid value: "A": ${NOT_A_SUBDOMAIN}`,
      "spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive",
      `spec.hostname: Invalid value: "A.b": ${NOT_A_LABEL}`,
      `spec.subdomain: Invalid value: "-x": ${NOT_A_LABEL}`,
    ],
  },
  {
    title: "hostnameOverride must be valid and excludes setHostnameAsFQDN and hostNetwork",
    given: {
      spec: {
        hostnameOverride: "Abbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
        setHostnameAsFQDN: true,
        hostNetwork: true,
      },
    },
    mistakes: [
      "spec.hostnameOverride: Forbidden: may not be specified when setHostnameAsFQDN is true",
      "spec.hostnameOverride: Forbidden: may not be specified when hostNetwork is true",
      "spec.hostnameOverride: Too long: may not be more than 64 bytes",
      `spec.hostnameOverride: Invalid value: "Abbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb": ${NOT_A_SUBDOMAIN}`,
    ],
  },
  {
    title: "containerPort must equal hostPort with hostNetwork",
    given: { spec: { hostNetwork: true }, container: { ports: [{ containerPort: 80, hostPort: 81 }, { containerPort: 82 }] } },
    mistakes: ["spec.containers[0].ports[0].hostPort: Invalid value: 81: must match `containerPort` when `hostNetwork` is true"],
  },
  {
    title: "a nodeSelector must consist of valid labels",
    given: { spec: { nodeSelector: { "a b": "c d", "beta.kubernetes.io/arch": "x" } } },
    mistakes: [
      `spec.nodeSelector: Invalid value: "a b": ${NOT_A_QUALIFIED_NAME}`,
      `spec.nodeSelector: Invalid value: "c d": ${NOT_A_LABEL_VALUE}`,
    ],
  },
  {
    title: "node affinity requires valid terms and requirements",
    given: {
      spec: {
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [
                {
                  matchExpressions: [
                    { key: "a b", operator: "In" },
                    { key: "a", operator: "Exists", values: ["x"] },
                    { key: "a", operator: "Gt", values: [] },
                    { key: "a", operator: "Odd" },
                    { key: "beta.kubernetes.io/os", operator: "In", values: ["a b"] },
                  ],
                  matchFields: [
                    { key: "x", operator: "In", values: ["a"] },
                    { key: "metadata.name", operator: "Exists" },
                    { key: "metadata.name", operator: "In", values: ["A", "b"] },
                  ],
                },
              ],
            },
            preferredDuringSchedulingIgnoredDuringExecution: [
              { weight: 0, preference: {} },
              { weight: 5, preference: { matchExpressions: [{ key: "a", operator: "In", values: ["a b"] }] } },
            ],
          },
        },
      },
    },
    mistakes: [
      "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
      `spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].key: Invalid value: "a b": ${NOT_A_QUALIFIED_NAME}`,
      "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[1].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
      "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[2].values: Required value: must be specified single value when `operator` is 'Lt' or 'Gt'",
      'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[3].operator: Invalid value: "Odd": not a valid selector operator',
      `spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[4].values[0]: Invalid value: "a b": ${NOT_A_LABEL_VALUE}`,
      'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[0].key: Invalid value: "x": not a valid field selector key',
      'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[1].operator: Invalid value: "Exists": not a valid selector operator',
      "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[2].values: Required value: must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
      `spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[2].values[0]: Invalid value: "A": ${NOT_A_SUBDOMAIN}`,
      "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 0: must be in the range 1-100",
    ],
  },
  {
    title: "a required node affinity needs at least one term",
    given: { spec: { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } } } } },
    mistakes: [
      "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Required value: must have at least one node selector term",
    ],
  },
  {
    title: "Pod affinity requires a topology key and valid selectors",
    given: {
      spec: {
        affinity: {
          podAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              { topologyKey: "" },
              {
                topologyKey: "a b",
                labelSelector: { matchLabels: { "a b": "c" } },
                namespaces: ["A"],
                namespaceSelector: { matchExpressions: [{ key: "a", operator: "In" }] },
              },
              { topologyKey: "z", matchLabelKeys: ["a"] },
              { topologyKey: "z", labelSelector: { matchLabels: { a: "b" } }, matchLabelKeys: ["x", "a b"], mismatchLabelKeys: ["x"] },
            ],
          },
          podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 101, podAffinityTerm: { topologyKey: "z" } }] },
        },
      },
    },
    mistakes: [
      "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Required value: can not be empty",
      'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Invalid value: "": name part must be non-empty',
      `spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Invalid value: "": ${NOT_A_QUALIFIED_NAME}`,
      `spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[1].labelSelector.matchLabels: Invalid value: "a b": ${NOT_A_QUALIFIED_NAME}`,
      "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[1].namespaceSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
      `spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[1].namespace: Invalid value: "A": ${NOT_A_LABEL}`,
      `spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[1].topologyKey: Invalid value: "a b": ${NOT_A_QUALIFIED_NAME}`,
      "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[2].matchLabelKeys: Forbidden: must not be specified when labelSelector is not set",
      `spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[3].matchLabelKeys[1]: Invalid value: "a b": ${NOT_A_QUALIFIED_NAME}`,
      'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[3].matchLabelKeys[0]: Invalid value: "x": exists in both matchLabelKeys and mismatchLabelKeys',
      "spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 101: must be in the range 1-100",
    ],
  },
  {
    title: "a key of a spread constraint's matchLabelKeys must not be in its labelSelector",
    given: {
      metadata: { labels: { app: "x" } },
      spec: {
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: "z",
            whenUnsatisfiable: "DoNotSchedule",
            labelSelector: { matchLabels: { app: "x" } },
            matchLabelKeys: ["app"],
          },
        ],
      },
    },
    mistakes: ['spec.topologySpreadConstraints[0][0]: Invalid value: "app": exists in both matchLabelKeys and labelSelector'],
  },
  {
    title: "tolerations require valid keys, operators and effects",
    given: {
      spec: {
        tolerations: [
          { key: "a b", value: "c d" },
          { operator: "Equal" },
          { operator: "Exists", value: "x" },
          { key: "a", operator: "Odd" },
          { key: "a", operator: "Lt", value: "1" },
          { key: "a", effect: "Odd" },
          { key: "a", tolerationSeconds: 5, effect: "NoSchedule" },
          {},
        ],
      },
    },
    mistakes: [
      `spec.tolerations[0].key: Invalid value: "a b": ${NOT_A_QUALIFIED_NAME}`,
      `spec.tolerations[0].operator: Invalid value: "c d": ${NOT_A_LABEL_VALUE}`,
      'spec.tolerations[1].operator: Invalid value: "Equal": operator must be Exists when `key` is empty, which means "match all values and all keys"',
      "spec.tolerations[2].operator: Invalid value: \"x\": value must be empty when `operator` is 'Exists'",
      'spec.tolerations[3].operator: Unsupported value: "Odd": supported values: "Equal", "Exists"',
      'spec.tolerations[4].operator: Unsupported value: "Lt": supported values: "Equal", "Exists", "Lt", "Gt"',
      'spec.tolerations[5].effect: Unsupported value: "Odd": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
      "spec.tolerations[6].effect: Invalid value: \"NoSchedule\": effect must be 'NoExecute' when `tolerationSeconds` is set",
      'spec.tolerations[7].operator: Invalid value: "": operator must be Exists when `key` is empty, which means "match all values and all keys"',
    ],
  },
  {
    title: "topology spread constraints require a topology key and must be unique",
    given: {
      spec: {
        topologySpreadConstraints: [
          {
            maxSkew: 0,
            topologyKey: "",
            whenUnsatisfiable: "Odd",
            minDomains: 0,
            nodeAffinityPolicy: "Odd",
            nodeTaintsPolicy: "Odd",
            labelSelector: { matchLabels: { "a b": "c" } },
          },
          { maxSkew: 1, topologyKey: "z", whenUnsatisfiable: "DoNotSchedule" },
          { maxSkew: 1, topologyKey: "z", whenUnsatisfiable: "DoNotSchedule", matchLabelKeys: ["a"] },
          {
            maxSkew: 1,
            topologyKey: "beta.kubernetes.io/os",
            whenUnsatisfiable: "ScheduleAnyway",
            minDomains: 1,
            labelSelector: { matchLabels: { a: "b" } },
          },
        ],
      },
    },
    mistakes: [
      "spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero",
      "spec.topologySpreadConstraints[0].topologyKey: Required value: can not be empty",
      'spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "Odd": supported values: "DoNotSchedule", "ScheduleAnyway"',
      "spec.topologySpreadConstraints[0].minDomains: Invalid value: 0: must be greater than zero",
      "spec.topologySpreadConstraints[0].minDomains: Invalid value: 0: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not Odd",
      'spec.topologySpreadConstraints[0].nodeAffinityPolicy: Unsupported value: "Odd": supported values: "Honor", "Ignore"',
      'spec.topologySpreadConstraints[0].nodeTaintsPolicy: Unsupported value: "Odd": supported values: "Honor", "Ignore"',
      `spec.topologySpreadConstraints[0].labelSelector.matchLabels: Invalid value: "a b": ${NOT_A_QUALIFIED_NAME}`,
      'spec.topologySpreadConstraints[1].{topologyKey, whenUnsatisfiable}: Duplicate value: "{z, DoNotSchedule}"',
      "spec.topologySpreadConstraints[2].matchLabelKeys: Forbidden: must not be specified when labelSelector is not set",
      "spec.topologySpreadConstraints[3].minDomains: Invalid value: 1: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway",
    ],
  },
  {
    title: "scheduling gates require qualified names and exclude nodeName",
    given: {
      spec: { schedulingGates: [{ name: "a" }, { name: "a" }, { name: "a b" }], nodeName: "n", readinessGates: [{ conditionType: "a b" }] },
    },
    mistakes: [
      `spec.readinessGates[0].conditionType: Invalid value: "a b": ${NOT_A_QUALIFIED_NAME}`,
      'spec.schedulingGates[1]: Duplicate value: "a"',
      `spec.schedulingGates[2]: Invalid value: "a b": ${NOT_A_QUALIFIED_NAME}`,
      "spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared",
    ],
  },
  {
    title: "a static Pod must not have resource claims",
    given: {
      metadata: { annotations: { "kubernetes.io/config.mirror": "x" } },
      spec: { nodeName: "n", resourceClaims: [{ name: "a", resourceClaimName: "b" }] },
    },
    mistakes: ["[]: Forbidden: static pods do not support resource claims"],
  },
  {
    title: "matchLabelKeys and mismatchLabelKeys require valid keys and a labelSelector",
    given: {
      spec: {
        affinity: {
          podAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              { topologyKey: "t", mismatchLabelKeys: ["a"] },
              { topologyKey: "t", labelSelector: {}, mismatchLabelKeys: ["a b"] },
            ],
          },
        },
        topologySpreadConstraints: [
          { maxSkew: 1, topologyKey: "t", whenUnsatisfiable: "DoNotSchedule", labelSelector: {}, matchLabelKeys: ["a b"] },
          { maxSkew: 1, topologyKey: "u", whenUnsatisfiable: "DoNotSchedule", matchLabelKeys: ["a"] },
        ],
      },
    },
    mistakes: [
      "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].mismatchLabelKeys: Forbidden: must not be specified when labelSelector is not set",
      `spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[1].mismatchLabelKeys[0]: Invalid value: "a b": ${NOT_A_QUALIFIED_NAME}`,
      `spec.topologySpreadConstraints[0].matchLabelKeys[0]: Invalid value: "a b": ${NOT_A_QUALIFIED_NAME}`,
      "spec.topologySpreadConstraints[1].matchLabelKeys: Forbidden: must not be specified when labelSelector is not set",
    ],
  },
  {
    title: "a key of a Pod affinity term's matchLabelKeys must not be in its labelSelector",
    given: {
      metadata: { labels: { app: "x" } },
      spec: {
        affinity: {
          podAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              { topologyKey: "t", labelSelector: { matchLabels: { app: "x" } }, matchLabelKeys: ["app"] },
            ],
            preferredDuringSchedulingIgnoredDuringExecution: [
              { weight: 1, podAffinityTerm: { topologyKey: "t", labelSelector: { matchLabels: { app: "x" } }, matchLabelKeys: ["app"] } },
            ],
          },
          podAntiAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              { topologyKey: "t", labelSelector: { matchLabels: { app: "x" } }, matchLabelKeys: ["app"] },
            ],
            preferredDuringSchedulingIgnoredDuringExecution: [
              { weight: 1, podAffinityTerm: { topologyKey: "t", labelSelector: { matchLabels: { app: "x" } }, matchLabelKeys: ["app"] } },
            ],
          },
        },
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: "t",
            whenUnsatisfiable: "DoNotSchedule",
            labelSelector: { matchLabels: { app: "x" } },
            matchLabelKeys: ["app"],
          },
        ],
      },
    },
    mistakes: [
      'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0][0]: Invalid value: "app": exists in both matchLabelKeys and labelSelector',
      'spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm[0]: Invalid value: "app": exists in both matchLabelKeys and labelSelector',
      'spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0][0]: Invalid value: "app": exists in both matchLabelKeys and labelSelector',
      'spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm[0]: Invalid value: "app": exists in both matchLabelKeys and labelSelector',
      'spec.topologySpreadConstraints[0][0]: Invalid value: "app": exists in both matchLabelKeys and labelSelector',
    ],
  },
  {
    title: "values of a selector must be valid label values",
    given: {
      spec: {
        affinity: {
          podAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              { topologyKey: "t", labelSelector: { matchLabels: { a: " " } }, namespaceSelector: { matchLabels: { b: " " } } },
            ],
          },
        },
      },
    },
    mistakes: [
      `spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector.matchLabels: Invalid value: " ": ${NOT_A_LABEL_VALUE}`,
      `spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].namespaceSelector.matchLabels: Invalid value: " ": ${NOT_A_LABEL_VALUE}`,
    ],
  },
  {
    title: "an unsupported preemption policy is rejected",
    given: { spec: { preemptionPolicy: "Odd" } },
    mistakes: ['spec.preemptionPolicy: Unsupported value: "Odd": supported values: "PreemptLowerPriority", "Never"'],
  },
  {
    title: "an empty preemption policy is rejected",
    given: { spec: { preemptionPolicy: "" } },
    mistakes: ["spec.preemptionPolicy: Required value"],
  },
  {
    title: "names of priority classes and runtime classes must be valid object names",
    given: { spec: { priorityClassName: "A_", runtimeClassName: "A_", imagePullSecrets: [{ name: "" }, { name: "x" }] } },
    mistakes: [
      `spec.priorityClassName: Invalid value: "A_": ${NOT_A_SUBDOMAIN}`,
      `spec.runtimeClassName: Invalid value: "A_": ${NOT_A_SUBDOMAIN}`,
    ],
  },
  {
    title: "the IP address of a host alias must be canonical",
    given: { spec: { hostAliases: [{ ip: "010.0.0.1" }, { ip: "::ffff:10.0.0.1" }] } },
    mistakes: [
      'spec.hostAliases[0].ip: Invalid value: "010.0.0.1": must not have leading 0s',
      'spec.hostAliases[1].ip: Invalid value: "::ffff:10.0.0.1": must not be an IPv4-mapped IPv6 address',
    ],
  },
];

for (const { title, given, mistakes } of ROWS) {
  test(title, () => {
    assert.deepEqual(mistakesOf(given), mistakes);
  });
}

test("a DNS search list is limited in total length", () => {
  // Nine domains of 241 characters each, and the spaces between them.
  const searches = Array.from({ length: 9 }, () => `${"a.".repeat(120)}b`);

  assert.deepEqual(mistakesOf({ spec: { dnsConfig: { searches } } }), [
    `spec.dnsConfig.searches: Invalid value: ${JSON.stringify(searches)}: must not have more than 2048 characters (including spaces) in the search list`,
  ]);
});
