import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { readKubeletConfigFile } from "./kubelet-config-file.ts";

const HEAD = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";

function read(text: string) {
  const { values, problems } = readKubeletConfigFile("kubelet.yaml", new TextEncoder().encode(text));
  return { values: Object.fromEntries(values), problems: problems.map((problem) => problem.replace(/^kubelet\.yaml: /, "")) };
}

test("the fields of the file set the same options as flags", () => {
  const { values, problems } = read(`${HEAD}
port: 10260
healthzPort: 0
authentication:
  anonymous: { enabled: true }
  webhook: { enabled: false }
  x509: { clientCAFile: /ca.crt }
authorization: { mode: AlwaysAllow }
clusterDNS: [10.96.0.10]
clusterDomain: cluster.local
podLogsDir: /logs
registerWithTaints: [{ key: dedicated, value: db, effect: NoSchedule }, { key: new, effect: NoExecute }]
systemReserved: { cpu: 100m, memory: 1Gi }
cgroupRoot: ""
`);

  deepEqual(problems, []);
  deepEqual(values, {
    port: 10_260,
    "healthz-port": 0,
    "anonymous-auth": true,
    "authentication-token-webhook": false,
    "client-ca-file": "/ca.crt",
    "authorization-mode": "AlwaysAllow",
    "cluster-dns": ["10.96.0.10"],
    "cluster-domain": "cluster.local",
    "pod-logs-dir": "/logs",
    "register-with-taints": ["dedicated=db:NoSchedule", "new=:NoExecute"],
    "system-reserved": ["cpu=100m", "memory=1Gi"],
  });
});

for (const [what, text, problems] of [
  [
    "all unknown fields, with what was meant",
    `${HEAD}maxPod: 5\nauthentication: { anonymus: { enabled: true } }\nzzzzzzzzzzzz: 1\n`,
    [
      'Unknown or unsupported field "maxPod"; did you mean maxPods?',
      'Unknown or unsupported field "authentication.anonymus"; did you mean authentication.anonymous.enabled?',
      'Unknown or unsupported field "zzzzzzzzzzzz"',
    ],
  ],
  [
    "values of another type",
    `${HEAD}port: "1"\nclusterDNS: 10.0.0.1\nsystemReserved: [cpu]\n`,
    [
      'port must be a number, is "1"',
      'clusterDNS must be a list of strings, is "10.0.0.1"',
      'systemReserved must be a map of resource names to quantities, is ["cpu"]',
    ],
  ],
  [
    "values that a flag would refuse",
    `${HEAD}port: 70000\nauthorization: { mode: Never }\n`,
    ['port must be an integer from 0 to 65535, is "70000"', 'authorization.mode must be AlwaysAllow or Webhook, is "Never"'],
  ],
  [
    "another kind",
    "apiVersion: v1\nkind: Pod\n",
    ['apiVersion must be kubelet.config.k8s.io/v1beta1, is "v1"', 'kind must be KubeletConfiguration, is "Pod"'],
  ],
  ["no map", "- a\n", ["Must be a KubeletConfiguration"]],
] as const) {
  test(`${what}: all problems are reported at once`, () => deepEqual(read(text).problems, problems));
}
