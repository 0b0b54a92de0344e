/**
 * Policies for the matrix: the examples of the Kubernetes documentation's page on network policies, recipes that are in common use, and
 * combinations. "x" is the namespace that the documentation calls "default" or that the policies are in.
 */
import type { NetworkPolicy } from "../../api/generated/networking.k8s.io/v1.ts";
import { aPolicy } from "./objects.ts";

export interface Example {
  readonly name: string;
  readonly policies: readonly NetworkPolicy[];
}

const ALL = { podSelector: {} };

function one(name: string, spec: Parameters<typeof aPolicy>[1]): Example {
  return { name, policies: [aPolicy(`x/${name.replaceAll(/[^a-z]+/g, "-")}`, spec)] };
}

const DENY_INGRESS = aPolicy("x/deny-ingress", { ...ALL, policyTypes: ["Ingress"] });
const DENY_EGRESS = aPolicy("x/deny-egress", { ...ALL, policyTypes: ["Egress"] });

/** The documentation's page. */
export const documentedExamples: readonly Example[] = [
  one("the NetworkPolicy resource", {
    podSelector: { matchLabels: { role: "db" } },
    policyTypes: ["Ingress", "Egress"],
    ingress: [
      {
        from: [
          { ipBlock: { cidr: "10.244.0.0/16", except: ["10.244.1.0/24"] } },
          { namespaceSelector: { matchLabels: { project: "myproject" } } },
          { podSelector: { matchLabels: { role: "frontend" } } },
        ],
        ports: [{ protocol: "TCP", port: 80 }],
      },
    ],
    egress: [{ to: [{ ipBlock: { cidr: "10.244.2.0/24" } }], ports: [{ protocol: "TCP", port: 81 }] }],
  }),
  one("namespace and pod selector in one peer", {
    ...ALL,
    ingress: [{ from: [{ namespaceSelector: { matchLabels: { ns: "y" } }, podSelector: { matchLabels: { role: "client" } } }] }],
  }),
  one("namespace and pod selector in two peers", {
    ...ALL,
    ingress: [{ from: [{ namespaceSelector: { matchLabels: { ns: "z" } } }, { podSelector: { matchLabels: { role: "db" } } }] }],
  }),
  { name: "default deny all ingress traffic", policies: [DENY_INGRESS] },
  one("allow all ingress traffic", { ...ALL, ingress: [{}], policyTypes: ["Ingress"] }),
  { name: "default deny all egress traffic", policies: [DENY_EGRESS] },
  one("allow all egress traffic", { ...ALL, egress: [{}], policyTypes: ["Egress"] }),
  one("default deny all ingress and all egress traffic", { ...ALL, policyTypes: ["Ingress", "Egress"] }),
  one("targeting a range of ports", {
    podSelector: { matchLabels: { role: "db" } },
    policyTypes: ["Egress"],
    egress: [{ to: [{ ipBlock: { cidr: "10.244.0.0/16" } }], ports: [{ protocol: "TCP", port: 79, endPort: 80 }] }],
  }),
  one("targeting multiple namespaces by label", {
    podSelector: { matchLabels: { app: "web" } },
    policyTypes: ["Egress"],
    egress: [
      { to: [{ namespaceSelector: { matchExpressions: [{ key: "namespace", operator: "In", values: ["frontend", "backend"] }] } }] },
    ],
  }),
  one("targeting a namespace by its name", {
    ...ALL,
    ingress: [{ from: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "z" } } }] }],
  }),
];

/** Recipes that are in common use. */
const recipes: readonly Example[] = [
  one("deny all traffic to an application", { podSelector: { matchLabels: { app: "web" } }, ingress: [] }),
  one("limit traffic to an application", {
    podSelector: { matchLabels: { app: "web" } },
    ingress: [{ from: [{ podSelector: { matchLabels: { app: "bookstore" } } }] }],
  }),
  {
    name: "allow all traffic to an application of a namespace that denies it",
    policies: [DENY_INGRESS, aPolicy("x/allow-web", { podSelector: { matchLabels: { app: "web" } }, ingress: [{}] })],
  },
  one("deny traffic from other namespaces", { ...ALL, ingress: [{ from: [{ podSelector: {} }] }] }),
  one("allow traffic from all namespaces", {
    podSelector: { matchLabels: { app: "web" } },
    ingress: [{ from: [{ namespaceSelector: {} }] }],
  }),
  one("allow traffic from a namespace", {
    podSelector: { matchLabels: { app: "web" } },
    ingress: [{ from: [{ namespaceSelector: { matchLabels: { purpose: "production" } } }] }],
  }),
  one("allow traffic from some pods of another namespace", {
    podSelector: { matchLabels: { app: "web" } },
    ingress: [
      { from: [{ namespaceSelector: { matchLabels: { team: "operations" } }, podSelector: { matchLabels: { type: "monitoring" } } }] },
    ],
  }),
  one("allow traffic to a port only", {
    podSelector: { matchLabels: { app: "web" } },
    ingress: [{ ports: [{ port: 81 }], from: [{ podSelector: { matchLabels: { role: "frontend" } } }] }],
  }),
  one("allow traffic using multiple selectors", {
    podSelector: { matchLabels: { role: "db" } },
    ingress: [{ from: [{ podSelector: { matchLabels: { app: "bookstore" } } }, { podSelector: { matchLabels: { app: "foo" } } }] }],
  }),
  one("deny egress from an application", { podSelector: { matchLabels: { app: "foo" } }, policyTypes: ["Egress"], egress: [] }),
  one("deny egress except to a port", {
    podSelector: { matchLabels: { app: "foo" } },
    policyTypes: ["Egress"],
    egress: [
      {
        ports: [
          { port: 80, protocol: "UDP" },
          { port: 80, protocol: "TCP" },
        ],
      },
    ],
  }),
  one("limit egress to the cluster", {
    podSelector: { matchLabels: { app: "foo" } },
    policyTypes: ["Egress"],
    egress: [{ to: [{ namespaceSelector: {} }] }],
  }),
];

const combinations: readonly Example[] = [
  { name: "no policy", policies: [] },
  one("policy types by default", { ...ALL, egress: [{ to: [{ podSelector: {} }] }] }),
  one("named port of ingress", { ...ALL, ingress: [{ ports: [{ port: "serve-81-tcp" }] }] }),
  one("named port of egress", {
    ...ALL,
    policyTypes: ["Egress"],
    egress: [{ to: [{ namespaceSelector: { matchLabels: { ns: "y" } } }], ports: [{ port: "serve-80-udp", protocol: "UDP" }] }],
  }),
  one("named port of another protocol matches nothing", { ...ALL, ingress: [{ ports: [{ port: "serve-80-udp", protocol: "TCP" }] }] }),
  one("a protocol without port", { ...ALL, ingress: [{ ports: [{ protocol: "UDP" }] }] }),
  one("overlapping ranges and protocols", {
    ...ALL,
    ingress: [
      {
        ports: [
          { port: 70, endPort: 80 },
          { port: 75, endPort: 80 },
          { port: 81, protocol: "UDP" },
          { port: 1, protocol: "SCTP" },
        ],
      },
    ],
  }),
  one("pods that expressions exclude", {
    podSelector: { matchExpressions: [{ key: "pod", operator: "NotIn", values: ["a"] }] },
    ingress: [
      {
        from: [
          {
            namespaceSelector: { matchExpressions: [{ key: "team", operator: "DoesNotExist" }] },
            podSelector: { matchExpressions: [{ key: "role", operator: "Exists" }] },
          },
        ],
      },
    ],
  }),
  one("a block with exceptions, single addresses included", {
    ...ALL,
    ingress: [{ from: [{ ipBlock: { cidr: "0.0.0.0/0", except: ["10.244.2.0/24", "10.244.1.10/32", "10.244.2.0/25"] } }] }],
  }),
  {
    name: "ingress and egress of one connection",
    policies: [
      DENY_INGRESS,
      aPolicy("x/allow-y", { ...ALL, ingress: [{ from: [{ namespaceSelector: { matchLabels: { ns: "y" } } }], ports: [{ port: 80 }] }] }),
      aPolicy("y/deny-egress", { podSelector: { matchLabels: { pod: "b" } }, policyTypes: ["Egress"] }),
      aPolicy("y/allow-x", {
        podSelector: { matchLabels: { pod: "c" } },
        policyTypes: ["Egress"],
        egress: [
          { to: [{ namespaceSelector: { matchLabels: { ns: "x" } } }], ports: [{ port: 81 }, { port: 80, protocol: "UDP" }, { port: 80 }] },
        ],
      }),
    ],
  },
];

export const examples: readonly Example[] = [...documentedExamples, ...recipes, ...combinations];
