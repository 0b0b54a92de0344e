import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../api/machinery/object.ts";
import type { Row } from "./live-table.ts";
import { groupedMap, NODES_MAX, WORKLOADS_MAX, type GroupedInput } from "./map-groups.ts";

const COLUMNS = ["Name", "Status", "Node"].map((name) => ({ name, priority: 0 }));

function pod(index: number, workload: string, { status = "Running", namespace = "shop" } = {}): Row {
  const name = `${workload}-${index}`;
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: `${workload}-rs`, uid: `uid-${workload}-rs`, controller: true };
  const cells = [name, status, `node-${index % 2}`];
  return { key: `${namespace}/${name}`, namespace, name, createdMs: 0, isTerminating: false, cells, labels: { app: workload }, owner };
}

function object(kind: string, name: string, rest: object = {}, namespace = "shop"): KubeObject {
  return { apiVersion: "v1", kind, metadata: { name, namespace, uid: `uid-${name}` }, ...rest };
}

const node = (name: string) => object("Node", name, { status: { conditions: [{ type: "Ready", status: "True" }] } }, "");

const INPUT: GroupedInput = {
  pods: [...Array.from({ length: 1_500 }, (_, index) => pod(index, "web")), pod(1_500, "web", { status: "CrashLoopBackOff" })],
  columns: COLUMNS,
  nodes: [node("node-0"), node("node-1")],
  replicaSets: [
    {
      apiVersion: "apps/v1",
      kind: "ReplicaSet",
      metadata: {
        ...{ name: "web-rs", namespace: "shop", uid: "uid-web-rs" },
        ownerReferences: [{ apiVersion: "apps/v1", kind: "Deployment", name: "web", uid: "d", controller: true }],
      },
    },
  ],
  services: [object("Service", "web", { spec: { type: "ClusterIP", selector: { app: "web" } } }), object("Service", "none", { spec: {} })],
  ingresses: [object("Ingress", "site", { spec: { defaultBackend: { service: { name: "web" } } } })],
};

const lines = (input: GroupedInput) => {
  const { items, edges } = groupedMap(input);
  return { items: items.map(({ id, name, status }) => `${id}: ${name} ${status}`), edges: edges.map(({ from, to }) => `${from} > ${to}`) };
};

test("the map of many Pods has one item per workload, which names what needs attention first", () => {
  deepEqual(lines(INPUT), {
    items: [
      "Node:node-0: node-0 Ready",
      "Node:node-1: node-1 Ready",
      "Workload:shop/Deployment/web: web Deployment",
      "Pod:shop/Deployment/web: 1 CrashLoopBackOff, 1,500 Running CrashLoopBackOff",
      "Service:shop/web: web ClusterIP",
      "Ingress:shop/site: site ",
    ],
    edges: [
      "Workload:shop/Deployment/web > Pod:shop/Deployment/web",
      "Pod:shop/Deployment/web > Node:node-0",
      "Pod:shop/Deployment/web > Node:node-1",
      "Service:shop/web > Pod:shop/Deployment/web",
      "Ingress:shop/site > Service:shop/web",
    ],
  });
});

test("the map of many workloads and nodes has one item per namespace and status", () => {
  const workloads = Array.from({ length: WORKLOADS_MAX + 1 }, (_, index) => pod(index, `app-${index}`, { namespace: `team-${index % 2}` }));
  const nodes = Array.from({ length: NODES_MAX + 1 }, (_, index) => node(`node-${index}`));

  const { items, edges } = lines({ ...INPUT, pods: workloads, nodes });

  deepEqual(items, [
    "Node:Ready: 31 Ready Ready",
    "Workload:team-0: team-0 61 workloads",
    "Pod:team-0: 61 Running Running",
    "Workload:team-1: team-1 60 workloads",
    "Pod:team-1: 60 Running Running",
    "Ingress:shop/site: site ",
  ]);
  deepEqual(edges, ["Workload:team-0 > Pod:team-0", "Pod:team-0 > Node:Ready", "Workload:team-1 > Pod:team-1", "Pod:team-1 > Node:Ready"]);
});
