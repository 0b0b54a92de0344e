import { deepEqual, equal } from "node:assert/strict";
import { describe, test } from "node:test";
import type { NetworkPolicy } from "../../api/generated/networking.k8s.io/v1.ts";
import type { PolicyModel } from "../model.ts";
import { examples } from "../testing/examples.ts";
import { modelAllows } from "../testing/model-evaluator.ts";
import { isAllowed } from "../testing/naive-evaluator.ts";
import {
  addressOf,
  aNamespace,
  aPod,
  aPolicy,
  keyOf,
  MATRIX_PORTS,
  MATRIX_PROTOCOLS,
  matrixNamespaces,
  matrixPods,
} from "../testing/objects.ts";
import { computeModel, type PolicyObjects } from "./compute-model.ts";

function compute(policies: readonly NetworkPolicy[], more: Partial<PolicyObjects> = {}): PolicyModel {
  return computeModel({ nodeName: "node-1", policies, pods: [], namespaces: [aNamespace("x")], ...more });
}

describe("the models of two nodes allow in the matrix of Pods what the policies allow", () => {
  for (const { name, policies } of examples) {
    test(name, () => {
      const models = ["node-1", "node-2"].map((nodeName) =>
        computeModel({ nodeName, policies, pods: matrixPods, namespaces: matrixNamespaces }),
      );
      const cluster = { policies, namespaces: matrixNamespaces };
      const expected: string[] = [];
      const found: string[] = [];
      for (const from of matrixPods)
        for (const to of matrixPods)
          for (const port of MATRIX_PORTS)
            for (const protocol of MATRIX_PROTOCOLS) {
              const connection = { client: addressOf(from), server: addressOf(to), port, protocol };
              const shown = `${keyOf(from)} to ${keyOf(to)} ${protocol} ${port}`;
              if (isAllowed({ from, to, port, protocol }, cluster)) expected.push(shown);
              if (models.every((model) => modelAllows(model, connection))) found.push(shown);
            }
      deepEqual(found, expected);
    });
  }
});

test("a policy isolates the Pods of this node that it selects, with its allowances", () => {
  const pods = [
    aPod("x/db", ["10.0.0.1"], { labels: { role: "db" } }),
    aPod("x/db-elsewhere", ["10.0.1.1"], { labels: { role: "db" }, node: "node-2" }),
    aPod("x/web", ["10.0.0.2", "fd00::2"], { labels: { role: "web" } }),
    aPod("y/db", ["10.0.0.3"], { labels: { role: "db" } }),
  ];
  const policy = aPolicy("x/db", {
    podSelector: { matchLabels: { role: "db" } },
    ingress: [
      {
        from: [{ podSelector: { matchLabels: { role: "web" } } }, { ipBlock: { cidr: "172.17.0.0/16", except: ["172.17.1.0/24"] } }],
        ports: [{ port: 6379 }, { port: 7000, endPort: 7010, protocol: "SCTP" }],
      },
    ],
  });
  const ports = [
    { protocol: "TCP", first: 6379, last: 6379 },
    { protocol: "SCTP", first: 7000, last: 7010 },
  ];
  deepEqual(compute([policy], { pods, namespaces: [aNamespace("x"), aNamespace("y")] }), {
    hasPolicies: true,
    localAddresses: ["10.0.0.1", "10.0.0.2", "10.0.0.3", "fd00::2"],
    isolated: new Map([["10.0.0.1", { ingress: ["x/db"] }]]),
    policies: new Map([
      [
        "x/db",
        {
          ingress: [
            { peers: "namespace x pods {role=web}", ports },
            { block: { family: 4, cidr: "172.17.0.0/16", except: ["172.17.1.0/24"] }, ports },
          ],
          egress: [],
        },
      ],
    ]),
    addressSets: new Map([["namespace x pods {role=web}", ["10.0.0.2", "fd00::2"]]]),
  });
});

describe("isolated directions", () => {
  const pods = [aPod("x/a", ["10.0.0.1"])];
  const cases = [
    { it: "ingress without policyTypes", spec: {}, isolated: { ingress: ["x/p"] } },
    { it: "ingress without policyTypes and with empty egress", spec: { egress: [] }, isolated: { ingress: ["x/p"] } },
    { it: "both without policyTypes and with egress rules", spec: { egress: [{}] }, isolated: { ingress: ["x/p"], egress: ["x/p"] } },
    { it: "egress only", spec: { policyTypes: ["Egress" as const], ingress: [{}] }, isolated: { egress: ["x/p"] } },
    { it: "both", spec: { policyTypes: ["Ingress" as const, "Egress" as const] }, isolated: { ingress: ["x/p"], egress: ["x/p"] } },
  ];
  for (const { it, spec, isolated } of cases)
    test(it, () => deepEqual(compute([aPolicy("x/p", { podSelector: {}, ...spec })], { pods }).isolated.get("10.0.0.1"), isolated));
});

describe("Pods that no policy can select", () => {
  const deny = aPolicy("x/deny", { podSelector: {} });
  const cases = [
    { it: "in the host network", pod: aPod("x/a", ["10.0.0.1"], { hostNetwork: true }) },
    { it: "finished", pod: aPod("x/a", ["10.0.0.1"], { phase: "Succeeded" }) },
    { it: "without an address", pod: aPod("x/a", []) },
    { it: "of another node", pod: aPod("x/a", ["10.0.0.1"], { node: "node-2" }) },
  ];
  for (const { it, pod } of cases) {
    test(it, () => {
      const model = compute([deny], { pods: [pod] });
      deepEqual([model.isolated.size, model.localAddresses.length, model.policies.size, model.hasPolicies], [0, 0, 0, true]);
    });
  }
});

test("Pods of the host network and finished Pods are no peers", () => {
  const pods = [
    aPod("x/a", ["10.0.0.1"]),
    aPod("x/host", ["192.0.2.1"], { hostNetwork: true }),
    aPod("x/done", ["10.0.0.9"], { phase: "Failed" }),
  ];
  const model = compute([aPolicy("x/p", { podSelector: {}, ingress: [{ from: [{ podSelector: {} }] }] })], { pods });
  deepEqual([...model.addressSets.values()], [["10.0.0.1"]]);
});

test("an address that a newer Pod has belongs to it alone", () => {
  const pods = [
    aPod("x/new", ["10.0.0.1"], { labels: { app: "new" }, created: "2026-01-02T00:00:00Z" }),
    aPod("x/old", ["10.0.0.1"], { labels: { app: "old" } }),
  ];
  const model = compute([aPolicy("x/old", { podSelector: { matchLabels: { app: "old" } } })], { pods });
  equal(model.isolated.size, 0);
});

test("the addresses of a sandbox are used before the status reports them", () => {
  const model = compute([aPolicy("x/p", { podSelector: {} })], {
    pods: [aPod("x/a", [])],
    sandboxAddresses: new Map([["x/a", ["10.0.0.7"]]]),
  });
  deepEqual([...model.isolated.keys()], ["10.0.0.7"]);
});

test("a named port is resolved for each Pod that has it", () => {
  const port = (number: number) => ({ ports: [{ name: "http", port: number }] });
  const pods = [aPod("x/a", ["10.0.0.1"], port(80)), aPod("x/b", ["10.0.0.2"], port(8080)), aPod("x/c", ["10.0.0.3"])];
  const ports = [{ port: "http" }];
  const model = compute(
    [
      aPolicy("x/p", {
        podSelector: {},
        policyTypes: ["Ingress", "Egress"],
        ingress: [{ ports }],
        egress: [{ ports, to: [{ podSelector: {} }] }],
      }),
    ],
    { pods },
  );
  const range = (number: number) => [{ protocol: "TCP", first: number, last: number }];
  deepEqual(model.policies.get("x/p"), {
    ingress: [
      { targets: "policy x/p TCP http=80", ports: range(80) },
      { targets: "policy x/p TCP http=8080", ports: range(8080) },
    ],
    egress: [
      { peers: "namespace x pods {} TCP http=80", ports: range(80) },
      { peers: "namespace x pods {} TCP http=8080", ports: range(8080) },
    ],
  });
  deepEqual(model.addressSets.get("namespace x pods {} TCP http=8080"), ["10.0.0.2"]);
});

test("a named port of egress to a block of addresses allows nothing", () => {
  const spec = {
    podSelector: {},
    policyTypes: ["Egress" as const],
    egress: [{ to: [{ ipBlock: { cidr: "0.0.0.0/0" } }], ports: [{ port: "http" }] }],
  };
  deepEqual(compute([aPolicy("x/p", spec)], { pods: [aPod("x/a", ["10.0.0.1"])] }).policies.get("x/p"), { ingress: [], egress: [] });
});

test("without policies nothing is isolated and no address is guarded", () => {
  const model = compute([], { pods: [aPod("x/a", ["10.0.0.1"])] });
  deepEqual([model.hasPolicies, model.isolated.size, model.localAddresses], [false, 0, ["10.0.0.1"]]);
});
